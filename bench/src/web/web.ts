import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { atMost, fact, row } from '../figures.ts'
import { keypress, memory, opening, switching } from './parts.ts'
import { chromiumProgram, Room } from './room.ts'
import { streaming } from './streaming.ts'

const parts = { streaming, opening, switching, keypress, memory }

/**
 * Measures the speed of the page in a real browser: frames while an agent writes as fast as it can, opening chats,
 * switching between sessions, the time from a key to the message on the screen, and the memory after many deltas.
 * `wanted` names the parts to run; if it is empty, all parts run.
 */
export async function webBench(wanted: readonly string[]): Promise<boolean> {
  let met = sizes()
  const program = chromiumProgram()
  if (program === undefined) {
    console.log('  the rest is skipped: no chromium')
    return met
  }
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const room = await Room.open(program)
    try {
      met = (await measure(room)) && met
    } finally {
      await room.close()
    }
  }
  return met
}

/**
 * Prints the compressed size of each JavaScript and CSS file of the page. Checks that the files of the first load
 * stay below their limit.
 */
function sizes(): boolean {
  const folder = fileURLToPath(new URL('../../../packages/web/dist/page/', import.meta.url))
  const html = readFileSync(`${folder}index.html`, 'utf8')
  let first = 0
  for (const name of readdirSync(`${folder}assets`).filter((each) => /\.(?:js|css)$/.test(each))) {
    const kb = gzipSync(readFileSync(`${folder}assets/${name}`), { level: 9 }).length / 1024
    const isFirst = html.includes(name)
    if (isFirst) first += kb
    fact(name.replace(/-[\w-]{8}\./, '.'), `${kb.toFixed(1)} KB${isFirst ? ', in the first load' : ''}`)
  }
  return row(
    'the first load of the page, without the HTML, gzipped',
    `${first.toFixed(1)} KB`,
    atMost(1, first / 150, '150 KB'),
  )
}
