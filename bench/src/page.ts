import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { goalText, measured } from './figures.ts'
import { plots } from './plot.ts'
import type { Measured } from './figures.ts'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))

const head = `# Performance

\`npm run bench\` measures these figures and writes this page; [benchmarks](benchmarks.md) tells how. Each is a ratio to a baseline of the same run, because
times depend on the machine. A goal that is missed stays here until it is met.

| bench | what | figure | ratio | to | goal | met |
| --- | --- | --- | --- | --- | --- | --- |
`
const runsHead = `
## When and where

| bench | date | machine |
| --- | --- | --- |
`

/**
 * Writes the figures of this run to the page of measurements, with the plots. The page keeps the rows of the benches that did not
 * run. `order` names all benches.
 */
export function writePage(order: readonly string[]): void {
  const path = `${docs}performance.md`
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const [figures = '', runs = ''] = before.split(runsHead)
  const rows = new Map(order.map((bench) => [bench, rowsOf(figures, bench)]))
  const ran = new Map(order.map((bench) => [bench, rowsOf(runs, bench)]))
  for (const bench of new Set(measured.map((each) => each.bench))) {
    rows.set(
      bench,
      measured.filter((each) => each.bench === bench).map((each) => rowOf(each)),
    )
    ran.set(bench, [runOf(bench)])
  }
  if (plots.length > 0) mkdirSync(`${docs}performance`, { recursive: true })
  for (const { name, svg } of plots) writeFileSync(`${docs}performance/${name}.svg`, svg)
  const shown = ['sessions', 'clients', 'turns', 'history'].filter((name) =>
    existsSync(`${docs}performance/${name}.svg`),
  )
  const pictures = shown.map((name) => `![Cost by ${name}](performance/${name}.svg)\n`).join('\n')
  const growth = shown.length > 0 ? `\n## Growth\n\n${pictures}` : ''
  const lines = (each: ReadonlyMap<string, readonly string[]>) => [...each.values()].flat().join('\n')
  writeFileSync(path, `${head}${lines(rows)}\n${runsHead}${lines(ran)}\n${growth}`)
}

const rowsOf = (page: string, bench: string) =>
  page.split('\n').filter((line) => line.startsWith(`| ${bench} | `))

function rowOf({ bench, what, figure, ratio, to, goal, met }: Measured): string {
  return `| ${[bench, what, figure, ratio.toFixed(2), to, goalText(goal), met ? 'met' : 'missed'].join(' | ')} |`
}

function runOf(bench: string): string {
  const date = new Date().toISOString().slice(0, 10)
  const load = (loadavg()[0] ?? 0).toFixed(0)
  return `| ${bench} | ${date} | ${cpus().length} ${arch()} cores, load ${load}, Node ${process.versions.node} |`
}
