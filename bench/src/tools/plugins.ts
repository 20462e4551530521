import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SessionState } from '@atrium/protocol/session/state'
import { Client } from '../client.ts'
import { percentile } from '../percentiles.ts'
import { serve } from '../serve.ts'
import { fact, row } from '../table.ts'

const plugins = 200
const skillsOfOne = 5
const sessions = 30

/** Measures the time to create a session on a host with many plugins, relative to a host without plugins. */
export async function pluginsBench(): Promise<boolean> {
  console.log(`\nplugins: ${plugins} with ${plugins * skillsOfOne} skills; ${sessions} sessions are created`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-plugins-'))
  const hosts = await Promise.all([
    openHost(join(folder, 'many'), plugins),
    openHost(join(folder, 'none'), 0),
  ])
  try {
    const [many, none] = hosts
    const times: { readonly many: number[]; readonly none: number[] } = { many: [], none: [] }
    for (let n = 0; n < sessions; n++) {
      // The first session is the only one that reads the files. It is a part of the measurement.
      times.none.push(await none.create(n))
      times.many.push(await many.create(n))
    }
    const [manyMs, noneMs] = [median(times.many), median(times.none)]
    const met = row('a session with all plugins is ready', `${manyMs.toFixed(2)} ms`, manyMs / noneMs, {
      atMost: 1.2,
    })
    fact('a session of a host without plugins', `${noneMs.toFixed(2)} ms`)
    fact('until the first session shows all plugins', `${many.firstShownMs().toFixed(0)} ms`)
    return met
  } finally {
    for (const host of hosts) host.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openHost(home: string, count: number) {
  for (let p = 0; p < count; p++) writePlugin(join(home, '.agents/plugins', `p${p}`))
  mkdirSync(join(home, 'work'), { recursive: true })
  const endpoint = await serve(join(home, 'data'), [], { HOME: home })
  const client = new Client(`bench of ${count} plugins`)
  await client.initialize(endpoint)
  const shown: number[] = []
  return {
    /**
     * Creates a session and waits until it shows all plugins. Resolves with the milliseconds until the session was
     * ready. It is ready before it shows the plugins.
     */
    async create(n: number): Promise<number> {
      const channel = `ahp-session:/${n}`
      const state = () => client.replicas.state(channel) as unknown as SessionState | undefined
      const until = (done: (now: SessionState) => boolean) =>
        new Promise<void>((resolve) => {
          const check = () => {
            const now = state()
            if (now && done(now)) resolve()
          }
          client.onEnvelope = check
          check()
        })
      const before = performance.now()
      await client.ask('createSession', {
        channel,
        provider: 'guide',
        workingDirectories: [`file://${home}/work`],
      })
      await client.subscribe(channel)
      await until(({ lifecycle }) => lifecycle === 'ready')
      const ready = performance.now() - before
      await until(({ customizations = [] }) => customizations.filter(isLoaded).length >= count)
      shown.push(performance.now() - before)
      return ready
    },
    firstShownMs: () => shown[0] ?? 0,
    close: () => endpoint.child.kill('SIGKILL'),
  }
}

function isLoaded(customization: object): boolean {
  return 'load' in customization && (customization.load as { readonly kind?: string }).kind === 'loaded'
}

function writePlugin(folder: string): void {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  put('.plugin/plugin.json', JSON.stringify({ name: folder.split('/').at(-1) }))
  for (let s = 0; s < skillsOfOne; s++)
    put(`skills/s${s}/SKILL.md`, `---\nname: s${s}\ndescription: Skill ${s}\n---\n${'Do this. '.repeat(50)}`)
}

function median(times: readonly number[]): number {
  return percentile(
    times.toSorted((a, b) => a - b),
    50,
  )
}
