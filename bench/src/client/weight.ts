import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { rolldown } from 'rolldown'
import { atMost, row } from '../figures.ts'

/** A program that a web page may load, with its largest allowed size in KB after gzip. */
export interface Page {
  readonly what: string
  readonly goal: number
  readonly text: string
}

export const pages: readonly Page[] = [
  {
    what: 'client and protocol, with every check',
    goal: 60,
    text: "export { connect } from '@atrium/client'",
  },
  {
    what: 'the same without checks',
    goal: 25,
    text: [
      "export { Client } from '@atrium/client/client'",
      "export { trusting } from '@atrium/client/shared/check'",
      "export { openSocket } from '@atrium/client/link/websocket'",
      "export { newId, world } from '@atrium/client/shared/globals'",
    ].join('\n'),
  },
]

/** Two bundlers, because bundlers differ in how much unused code they find and remove. */
const bundlers = { rolldown: byRolldown, esbuild: byEsbuild }

/** The size of a page in KB after bundling, minifying and gzip, for each bundler. */
export async function weigh({ text }: Page): Promise<ReadonlyMap<string, number>> {
  // The folder is inside the repository, so that the bundlers find the packages.
  const folder = await mkdtemp(fileURLToPath(new URL('../../dist/page-', import.meta.url)))
  const input = join(folder, 'page.js')
  try {
    await writeFile(input, text)
    const sizes = new Map<string, number>()
    for (const [name, bundle] of Object.entries(bundlers))
      sizes.set(name, gzipSync(await bundle(input), { level: 9 }).length / 1024)
    return sizes
  } finally {
    await rm(folder, { recursive: true })
  }
}

export async function weightTable(): Promise<boolean> {
  const met: boolean[] = []
  for (const page of pages)
    for (const [bundler, kilobytes] of await weigh(page))
      met.push(
        row(
          `${page.what}, gzipped after ${bundler}`,
          `${kilobytes.toFixed(1)} KB`,
          atMost(1, kilobytes / page.goal, `${page.goal} KB`),
        ),
      )
  return met.every(Boolean)
}

async function byRolldown(input: string): Promise<string> {
  const bundle = await rolldown({ input, logLevel: 'silent' })
  const { output } = await bundle.generate({ minify: true })
  return output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
}

async function byEsbuild(input: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [input],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles.map((file) => file.text).join('')
}
