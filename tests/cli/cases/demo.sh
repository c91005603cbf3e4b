# ./run demo, with the commands under test: every step works, and it ends with the page.
if CW_BIN=$BIN "$SOURCE/run" demo >told 2>&1; then
    grep -o '^[1-8]\. [a-z ]*' told
    tail -n 1 told
else
    cat told
    exit 1
fi
