# Advice on 155 kernels of an H200, by a plan of --for-advice: right on both halves of k01 to k53 as tests/advice/README.md
# asks, and on k54 to k83 no worse than it is.
"$SOURCE/tests/advice/score" --check metric-eval "$SOURCE/tests/advice/h200_advice.cwd" >/dev/null
echo "exit $?"
