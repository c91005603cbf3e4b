# Advice on 155 kernels of an H200 and 60 of an H100, by a plan of --for-advice: right on both halves of k01 to k53 as
# tests/advice/README.md asks, and on k54 to k83 and k84 to k107 no worse than it is.
advice=$SOURCE/tests/advice
"$advice/score" --check metric-eval "$advice/h200_advice.cwd" "$advice/h100_advice.cwd" "$advice/h100_passing.cwd" >table
echo "exit $?"
# each half of each group has a column
head -n 1 table
