# What a run of make soak came to, in its last lines. The status is 0 when every
# package ended well.
/^ok / { packages++; seconds += $3 }
/^FAIL\t/ { broken = broken "\n  " $2; seconds += $3 }
/^panic: |^fatal error: |WARNING: DATA RACE/ { broken = broken "\n  " $0 }
/^ *--- (PASS|FAIL|SKIP): / {
	bug = $3 ~ /^TestSeededBugs\//
	if (bug && $2 == "PASS:") found++
	else if (bug) missed = missed "\n  " substr($3, 16)
	else if ($2 == "FAIL:") failed = failed "\n  " $3
	else if ($2 == "SKIP:") skipped = skipped "\n  " $3
	else passed++
}
END {
	print "\nsoak: " packages + 0 " packages, " passed + 0 " tests passed, " found + 0 " seeded bugs found, in " int(seconds / 60) " min"
	if (skipped) print "skipped (they say why):" skipped
	if (missed) print "seeded bugs MISSED:" missed
	if (failed) print "tests FAILED:" failed
	if (broken) print "packages FAILED:" broken
	if (!packages && !broken) print "nothing ran"
	exit broken || failed || missed || !packages
}
