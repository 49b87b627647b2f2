#!/usr/bin/env python3
"""Are the runs of a seed the same? Reads lines "FOLDER PROGRAM" of test programs that were built for seeded runs
(`cargo gmp test --seeds 1 --no-run`), and runs each of their tests RUNS times under SEED. Prints a line for each test.

    setarch -R repeat.py SEED RUNS < programs
"""
import collections, json, os, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
seed, runs = sys.argv[1], int(sys.argv[2])
LIMIT = 20

def names(folder, program, *more):
    out = subprocess.run([program, '--list', '--format', 'terse', *more], cwd=folder, capture_output=True, text=True).stdout
    return [line[:-6] for line in out.splitlines() if line.endswith(': test')]

def run(job):
    folder, program, test = job
    place = tempfile.mkdtemp(prefix='gmp-repeat-')
    ends, hashes, outside, said = collections.Counter(), set(), [], ''
    for _ in range(runs):
        shutil.rmtree(place); os.makedirs(place + '/t')
        env = {'PATH': os.environ['PATH'], 'HOME': os.environ['HOME'], 'CARGO_MANIFEST_DIR': folder, 'TMPDIR': place + '/t',
               'GMP_SEED': seed, 'GMP_SEED_REPORT': place + '/report'}
        try:
            done = subprocess.run([program, test, '--exact', '--nocapture', '--include-ignored'], cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
            end = 'passed' if done.returncode == 0 else 'failed'
            if end == 'failed' and not said:
                text = done.stdout.decode(errors='replace'); at = max(text.find(' panicked at'), text.find('gmp: seed'))
                said = ' '.join(text[max(at, 0):][:300].split())
        except subprocess.TimeoutExpired:
            ends['ended'] += 1
            break
        ends[end] += 1
        try: reports = [json.loads(line) for line in open(place + '/report')]
        except OSError: reports = []
        hashes.add((end, tuple(sorted(report['hash'] for report in reports))))
        outside = sorted({what for report in reports for what in report['outside']} | set(outside))
    shutil.rmtree(place, ignore_errors=True)
    gmp = any(h for _, h in hashes) 
    print(json.dumps(dict(package=os.path.basename(folder), program=os.path.basename(program), test=test, ends=ends,
                          hashes=len(hashes), gmp=gmp, outside=outside, said=said)), flush=True)

jobs = []
for line in sys.stdin:
    folder, program = line.split()
    ignored = set(names(folder, program, '--ignored'))
    jobs += [(folder, program, test) for test in names(folder, program) if test not in ignored]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(run, jobs))
