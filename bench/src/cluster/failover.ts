import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@atrium/client'
import { WebSocket } from 'ws'
import { serve } from '../serve.ts'
import type { Database } from './database.ts'

const session = 'ahp-session:/failover'

/**
 * Starts an owner and a standby, and ends the owner with a signal. Returns the seconds until an action is accepted that a client
 * of both addresses dispatches at that moment.
 */
export async function failover(
  database: Database,
  folder: string,
  lease: number,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<number> {
  mkdirSync(folder)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM', { mode: 0o600 })
  const node = (name: string) =>
    serve(join(folder, name), {
      ATRIUM_STORE: `${database.url}?schema=failover_${signal.toLowerCase()}`,
      ATRIUM_STANDBY: '1',
      ATRIUM_LEASE: String(lease),
      ATRIUM_MACHINE: name,
      ATRIUM_TOKEN_FILE: tokenFile,
      ATRIUM_PORT: '0',
      PGPASSWORD: database.password,
      HOME: folder,
    })
  const owner = await node('one')
  while (!(await isOwner(owner.url))) await pause(50)
  const standby = await node('two')
  // The cast leaves the forms of the class out that only servers and other events need.
  const urls = [owner.url, standby.url]
  const client = connect({ urls, token: owner.token, WebSocket: WebSocket as never })
  try {
    await client.ask('createSession', { channel: session })
    const handle = client.subscribe('session', session)
    const rename = (title: string) => handle.dispatch({ type: 'session/titleChanged', title })
    const { outcome } = await rename('before')
    if (outcome !== 'accepted') throw new Error(`the first action was ${outcome}`)
    const began = performance.now()
    owner.child.kill(signal)
    const after = await rename('after')
    if (after.outcome !== 'accepted') throw new Error(`the action after ${signal} was ${after.outcome}`)
    return (performance.now() - began) / 1000
  } finally {
    client.close()
    for (const { child, exit } of [owner, standby]) {
      child.kill('SIGKILL')
      await exit
    }
  }
}

async function isOwner(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/readyz', url.replace(/^ws/, 'http')))
  return answer.ok
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
