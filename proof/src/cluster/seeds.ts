import { run } from './run.ts'

// This file is a child process, so that bugs can be planted in it. It runs `count` seeds from `first`, and reports the first
// violation, or what the seeds have reached.
const [first = 1, count = 1, verbose = 0] = process.argv.slice(2).map(Number)
const totals: { [what: string]: number } = { seeds: 0 }
let found: object | undefined
for (let seed = first; seed < first + count && !found; seed++) {
  const lines: string[] = []
  const { violation, counts } = await run(seed, (line) => void lines.push(line))
  if (violation) found = { seed, violation, trace: lines }
  for (const [what, times] of Object.entries({ ...counts, seeds: 1 }))
    totals[what] = (totals[what] ?? 0) + times
  if (verbose && violation) for (const line of lines) console.log(line)
}
const report = found ?? { totals }
if (process.send) {
  // A channel that is closed too early loses a long report.
  await new Promise((resolve) => process.send?.(report, resolve))
  process.disconnect()
} else {
  console.log(JSON.stringify('trace' in report ? { ...report, trace: undefined } : report))
  if (found) process.exitCode = 1
}
