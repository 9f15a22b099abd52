# kwokgen bundle: case
# Applies each wave at its second, and at once what is late: sh waves/apply.sh, with flags of kubectl apply
set -eu
cd "$(dirname "$0")"
start=$(date +%s)
for wave in [0-9]*.yaml; do
  # A number that begins with 0 is octal.
  second=$(echo "${wave%.yaml}" | sed 's/^0*//')
  wait=$((start + ${second:-0} - $(date +%s)))
  [ "$wait" -le 0 ] || sleep "$wait"
  kubectl apply "$@" -f "$wave"
done
