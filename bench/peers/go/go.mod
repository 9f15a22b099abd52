module kwokgen.io/bench

go 1.24
