import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { filesBelow, root } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-snippets-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a careful program asks of its compiler. */
const strict = {
  target: 'ES2023',
  module: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
}

/** Compiles files as TypeScript against the types that the packages publish. Returns what the compiler prints. */
function compile(name: string, options: object, files: ReadonlyMap<string, string>): string {
  const place = join(folder, name)
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...strict, ...options }, include: ['*.ts'] }),
  )
  for (const [path, text] of files) writeFileSync(join(place, path), text)
  const { stdout, error } = spawnSync(
    join(root, 'node_modules', '.bin', 'tsc'),
    ['-p', place, '--pretty', 'false'],
    {
      cwd: place,
      encoding: 'utf8',
    },
  )
  return error?.message ?? stdout
}

test('[A4.1] every program in a page compiles in strict TypeScript against the types that the packages publish', () => {
  const found = new Map<string, string>()
  for (const path of filesBelow(root, /\.md$/))
    for (const [, text = ''] of readFileSync(path, 'utf8').matchAll(/^```(?:js|ts|tsx)\n([\s\S]*?)^```/gm)) {
      const name = `${relative(root, path).replaceAll(/[^\w]+/g, '-')}-${found.size}.ts`
      // The line makes a module of a snippet that imports nothing.
      found.set(name, `${text}\nexport {}\n`)
    }
  expect(found.size).toBeGreaterThan(5)
  expect(compile('pages', { lib: ['ES2023'], types: ['node', 'ws'] }, found)).toBe('')
})

const sockets = `
import { connect } from '@atrium/client'
import type { Client, SocketConstructor } from '@atrium/client'
import { WebSocket as Ws } from 'ws'
import type { WebSocket as Undici } from 'undici-types'

declare const fromUndici: typeof Undici
export const accepted: readonly SocketConstructor[] = [Ws, WebSocket, fromUndici]
connect({ url: undefined, urls: ['ws://127.0.0.1'], token: process.env['TOKEN'], WebSocket: Ws })
connect({ url: 'ws://127.0.0.1', token: undefined, WebSocket: undefined })
// @ts-expect-error A socket is constructed with an address.
export const refused: SocketConstructor = Map

export async function asked(client: Client) {
  const { items } = await client.ask('listSessions', { channel: 'ahp-root://' })
  const titles: readonly (string | undefined)[] = items.map(({ title }) => title)
  const peer = await client.live()
  const version: string = (await peer.request('initialize', { protocolVersions: ['1.0.0'], clientId: 'me' })).protocolVersion
  const unknown: unknown = await client.ask('x-example/other', { any: 1 })
  const other: unknown = await peer.request('x-example/other', { any: 1 })
  // @ts-expect-error A client id is a text.
  void peer.request('initialize', { protocolVersions: ['1.0.0'], clientId: 1 })
  // @ts-expect-error So it is here.
  void client.ask('initialize', { protocolVersions: ['1.0.0'], clientId: 1 })
  // @ts-expect-error The result of a method that AHP does not have may be anything.
  void (await peer.request('x-example/other', {})).anything
  return { titles, version, unknown, other }
}
`

test('[U60] a client takes the WebSocket of ws, of a browser and of undici, and types requests by their methods', () => {
  const options = { lib: ['ES2023', 'DOM'], types: ['node', 'ws'] }
  expect(compile('sockets', options, new Map([['sockets.ts', sockets]]))).toBe('')
})
