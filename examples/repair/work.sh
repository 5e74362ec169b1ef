# Does a task of the shop: its input comes on standard input, its result goes to standard output.
read -r input
order=${input#*\"order\":}
order=${order%%[!0-9]*}
case $input in
  *'"amount"'*) echo "{\"id\": \"r-$order\"}" ;;
  *'"order":7,'*) echo '{"message": "none left"}' >&2; exit 100 ;; # trying again does not help
  *) echo true ;;
esac
