# Advice on 101 kernels of an H200, by a plan of --for-advice: right on both halves as tests/advice/README.md asks.
"$SOURCE/tests/advice/score" --check metric-eval "$SOURCE/tests/advice/h200_advice.cwd" >/dev/null
echo "exit $?"
