#!/usr/bin/env bash
# Compare the newest commit of $FRAMEWORK with that of the last night by running $PROGRAM in both; keep the results in git.
set -euo pipefail
cd "$(dirname "$0")"

keep() {
    echo "$newest" > last-commit
    save "$1"
}
save() {
    git add last-commit bench
    git commit -q -m "$1"
    git push -q
}

[ -d framework ] || git clone -q "$FRAMEWORK" framework
git -C framework fetch -q
newest=$(git -C framework rev-parse origin/HEAD)
git -C framework checkout -q --detach "$newest"
if [ ! -f last-commit ]; then
    (cd framework && dlperf init ../bench --name nightly --program "$PROGRAM")
    keep "Begin with $newest"
    exit
fi
last=$(cat last-commit)
if [ "$last" = "$newest" ]; then echo "no new commit since $last"; exit; fi

rm -rf evidence && mkdir evidence
code=0
dlperf --workspace bench ab --a "$last" --b "$newest" -f nightly --ci evidence --yes > evidence/ab.txt 2>&1 || code=$?
cat evidence/ab.txt
case $code in
0) keep "Measure $newest: not slower than $last" ;;
1)
    dlperf --workspace bench bisect "$last" "$newest" -f nightly --yes > evidence/bisect.txt 2>&1 || true
    { cat evidence/summary.md; printf '\n```\n'; cat evidence/ab.txt evidence/bisect.txt; printf '```\n'; } > evidence/issue.md
    what="No result"
    if grep -q "worse: " evidence/summary.md; then what=Slower; fi
    gh issue create --title "$what between ${last:0:12} and ${newest:0:12}" --body-file evidence/issue.md
    keep "Measure $newest: ${what,,} after $last"
    ;;
4) save "Measure $newest: cannot tell whether it is slower than $last" ;;
*) exit $code ;;
esac
