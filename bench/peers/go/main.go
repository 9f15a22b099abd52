// The stream of the quickstart with text/template: stream NODES HEAD TAIL.
package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"text/template"
)

const nodesAFile = 2500

//go:embed stream.tmpl
var text string

type pci struct{ Bus, Root string }

var devices = []pci{
	{"0000:53:00.0", "pci0000:44"},
	{"0000:64:00.0", "pci0000:55"},
	{"0000:75:00.0", "pci0000:66"},
	{"0000:86:00.0", "pci0000:77"},
	{"0000:97:00.0", "pci0000:88"},
	{"0000:a8:00.0", "pci0000:99"},
	{"0000:b9:00.0", "pci0000:aa"},
	{"0000:ca:00.0", "pci0000:bb"},
}

type row struct {
	Name, Number, Address string
	Shard                 int
	Devices               []pci
}

func rowOf(index int) row {
	return row{
		Name:    fmt.Sprintf("h100-%d", index),
		Number:  fmt.Sprintf("%08x", index),
		Address: fmt.Sprintf("10.%d.%d.%d", 128+(index>>16), (index>>8)&255, index&255),
		Shard:   index % 60,
		Devices: devices,
	}
}

func documents(out io.Writer, one *template.Template, nodes int) error {
	for index := range nodes {
		if index%nodesAFile == 0 {
			fmt.Fprintln(out, "# kwokgen bundle: quickstart")
		}
		if err := one.Execute(out, rowOf(index)); err != nil {
			return err
		}
	}
	return nil
}

func file(out io.Writer, path string) error {
	content, err := os.ReadFile(path)
	if err == nil {
		_, err = out.Write(content)
	}
	return err
}

func stream(out io.Writer, nodes int, head, tail string) error {
	templates := template.Must(template.New("").Parse(text))
	if err := file(out, head); err != nil {
		return err
	}
	for _, kind := range []string{"node", "slice"} {
		if err := documents(out, templates.Lookup(kind), nodes); err != nil {
			return err
		}
	}
	return file(out, tail)
}

func main() {
	nodes, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := stream(out, nodes, os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
