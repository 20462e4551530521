import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect } from '@atrium/client/connect'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { atrium, bin } from '../../test/command.ts'
import { say, sessionOf } from '../../test/client.ts'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

test('[D10] the launcher runs the bundle while it is up to date, else the compiled files', () => {
  const { place, run } = launcher()
  expect(run()).toBe('bundle\n')
  expect(run({ ATRIUM_UNBUNDLED: '1' })).toBe('compiled\n')
  touch(join(place, 'dist', 'input.js'), 60)
  expect(run()).toBe('compiled\n')
  // A published package has no sources, so its bundle is never stale, and there are no compiled files to run instead.
  rmSync(join(place, 'src'), { recursive: true })
  expect(run()).toBe('bundle\n')
  expect(run({ ATRIUM_UNBUNDLED: '1' })).toBe('bundle\n')
  rmSync(join(place, 'dist', 'bundle'), { recursive: true })
  expect(run()).toBe('compiled\n')
})

test('[D10.1] a start under a new version of Node adds its compiled code to the cache, once, and needs no cache', () => {
  const { place, run } = launcher()
  const version = `${process.version}-${process.platform}-${process.arch}`
  const cached = join(place, 'dist', 'bundle', 'cache', version, 'main-1.cjs')
  expect(run()).toBe('bundle\n')
  expect(readFileSync(cached).length).toBeGreaterThan(0)
  writeFileSync(cached, 'V8 refuses this')
  expect(run()).toBe('bundle\n')
  expect(readFileSync(cached, 'utf8')).toBe('V8 refuses this')
  rmSync(join(place, 'dist', 'bundle', 'cache'), { recursive: true })
  writeFileSync(join(place, 'dist', 'bundle', 'cache'), 'a file, so that the folder cannot be made')
  expect(run()).toBe('bundle\n')
})

test('[D10.3] stacks of the bundle name the lines of the sources', () => {
  const { place, run } = launcher('console.log(new Error("x").stack)')
  expect(run()).toContain(`(${join(place, 'src', 'main.ts')}:3:5)`.slice(1, -1))
})

test('[D10.3] no source map is read for an error of a system call', () => {
  const { place, run } = launcher('console.log(Object.assign(new Error("x"), { syscall: "write" }).stack)')
  expect(run()).toContain(`${join(place, 'dist', 'bundle', 'main-1.cjs')}:1:`)
})

test('[D10.3] the memory of a source map is free again after a stack was made', () => {
  const { place, run } = launcher(
    `new Error("x").stack
     require('node:v8').setFlagsFromString('--expose-gc')
     setImmediate(() => setImmediate(() => {
       require('node:vm').runInNewContext('gc')()
       console.log(process.memoryUsage().heapUsed)
     }))`,
  )
  const used = Number(run())
  const file = join(place, 'dist', 'bundle', 'main-1.cjs.map')
  const { mappings, ...map } = JSON.parse(readFileSync(file, 'utf8')) as { readonly mappings: string }
  // A position takes an array of some hundred bytes.
  writeFileSync(file, JSON.stringify({ ...map, mappings: `${mappings}${',AAAC'.repeat(200_000)}` }))
  expect(Number(run()) - used).toBeLessThan(4_000_000)
})

test('[D10] [D10.2] the host runs from few files, and all its parts work from there', async () => {
  const home = newFolder()
  const host = await serve(home)
  const launched = (file: string) => file.includes('/packages/') && !file.includes('/cli/bin/')
  const files = host.loaded().filter(launched)
  expect(files.filter((file) => !file.includes(`${packageFolder}dist/bundle/`))).toEqual([])
  expect(new Set(files).size).toBeLessThan(20)
  expect(files.filter((file) => /postgres|cluster/.test(file))).toEqual([])

  while (!host.builtins().includes('http')) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(host.builtins().filter((name) => /^(tls|https|zlib)$/.test(name))).toEqual([])

  // This part uses the guide, the store and the worker of the store.
  const chat = await sessionOf(host.client, 'kept', home)
  await say(chat, 'say hello')
  expect(lastText(chat)).toBe('hello')

  // This part uses a shell, the script that makes the shell mark its commands, and the emulator that answers queries.
  const shell = await terminal(host.client)
  await shell.dispatch({
    type: 'terminal/input',
    data: `printf '\\033[6n'; IFS= read -rs -d R place; echo "at $\{place#*[}"; sleep 1000 & echo "pid $!"\r`,
  })
  // The number is whole when its line has ended: the output comes in pieces.
  const pidLine = /pid (\d+)\\r/
  const { content } = await shell.until((state) => pidLine.test(JSON.stringify(state.content)))
  expect(JSON.stringify(content)).toMatch(/at \d+;\d+/)
  const pid = Number(pidLine.exec(JSON.stringify(content))?.[1])

  // The watchdog ends the programs of a host that was killed.
  host.child.kill('SIGKILL')
  while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 50))
  host.client.close()
  const next = await serve(home)
  const again = next.client.subscribe('chat', chat.uri)
  await again.ready()
  expect(lastText(again)).toBe('hello')
})

test('[D10] a database is asked for from the bundle, by a thread of its own', async () => {
  const ran = await atrium(newFolder(), [
    'cluster',
    'status',
    '--store',
    'postgres://ann@127.0.0.1:1/sessions',
  ])
  expect(ran).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('PostgreSQL at 127.0.0.1:1/sessions cannot be reached: '),
  })
})

test('[D10] a model is reached from the bundle', async () => {
  const asked: string[] = []
  const api = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void api.close())
  await once(api, 'listening')
  const { port } = api.address() as AddressInfo
  const compatible = { local: { baseUrl: `http://127.0.0.1:${port}/v1`, models: [{ id: 'small' }] } }
  const models = { compatible, default: 'local/small' }
  const { client } = await serve(newFolder(), { ATRIUM_MODELS: JSON.stringify(models) })
  const uri = 'ahp-session:/model'
  await client.ask('createSession', { channel: uri, provider: 'atrium' })
  const session = client.subscribe('session', uri)
  const { defaultChat = '' } = await session.until((state) => state.defaultChat !== undefined)
  const chat = client.subscribe('chat', defaultChat)
  await chat.ready()
  await say(chat, 'hello')
  expect(asked).toContain('/v1/chat/completions')
})

/** A copy of the launcher, with a program that prints whether it was run from the bundle or from the compiled files. */
function launcher(program = 'console.log("bundle")') {
  const place = newFolder()
  cpSync(join(packageFolder, 'bin'), join(place, 'bin'), { recursive: true })
  for (const folder of ['src', 'dist/bundle']) mkdirSync(join(place, folder), { recursive: true })
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  writeFileSync(join(place, 'dist', 'main.js'), 'console.log("compiled")')
  writeFileSync(join(place, 'dist', 'input.js'), '')
  touch(join(place, 'dist', 'input.js'), -60)
  writeFileSync(join(place, 'dist', 'bundle', 'main-1.cjs'), program)
  // This map says: line 1, column 1 of the bundle comes from line 3, column 5 of the source.
  const map = { version: 3, sources: ['../../src/main.ts'], names: [], mappings: 'AAEI' }
  writeFileSync(join(place, 'dist', 'bundle', 'main-1.cjs.map'), JSON.stringify(map))
  const list = JSON.stringify({ entry: 'main-1.cjs', inputs: ['dist/input.js'] })
  writeFileSync(join(place, 'dist', 'bundle', 'bundle.json'), list)
  const file = join(place, 'bin', 'atrium.mjs')
  const run = (env: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, ...env } }).stdout
  return { place, run }
}

/** Starts a host by its launcher. The host writes a list of the files that it loads. */
async function serve(home: string, env: NodeJS.ProcessEnv = {}) {
  const list = join(home, 'loaded')
  const hook = join(home, 'hook.cjs')
  // All scripts and modules of the host are read by `readFileSync`, so the hook sees each of them.
  writeFileSync(
    hook,
    `const fs = require('node:fs'), read = fs.readFileSync
     fs.readFileSync = (file, ...rest) => (fs.appendFileSync(${JSON.stringify(list)}, String(file) + '\\n'), read(file, ...rest))
     require('node:module').syncBuiltinESMExports()
     setInterval(() => fs.writeFileSync(${JSON.stringify(`${list}.builtins`)}, process.moduleLoadList.join('\\n')), 20).unref()`,
  )
  const args = ['--require', hook, bin, 'serve', '--json', '--port', '0', '--data', join(home, 'data')]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/bash', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url, token } = JSON.parse(line) as { url: string; token: string }
  // The constructor of `ws` behaves like the browser's, but its types differ.
  const client = connect({ url, token, WebSocket: WebSocket as never })
  onTestFinished(() => client.close())
  const loaded = () =>
    readFileSync(list, 'utf8')
      .split('\n')
      .filter((file) => /\.[cm]?js$/.test(file))
  /** The public modules of Node that the host has loaded so far. */
  const builtins = () => {
    const known = existsSync(`${list}.builtins`) ? readFileSync(`${list}.builtins`, 'utf8') : ''
    return known.split('\n').map((name) => name.replace('NativeModule ', ''))
  }
  return { child, client, loaded, builtins }
}

async function terminal(client: Client): Promise<Subscription<'terminal'>> {
  const channel = 'ahp-terminal:/bundle'
  await client.ask('createTerminal', { channel, claim: { kind: 'client', clientId: client.clientId } })
  const shell = client.subscribe('terminal', channel)
  await shell.until(({ supportsCommandDetection }) => supportsCommandDetection === true)
  return shell
}

function lastText(chat: Subscription<'chat'>): string {
  const parts = chat.state?.turns.at(-1)?.responseParts ?? []
  return parts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Sets the time of a file, in seconds from now. */
function touch(file: string, seconds: number): void {
  const time = Date.now() / 1000 + seconds
  utimesSync(file, time, time)
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
