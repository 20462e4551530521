import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { command } from '../serve.ts'
import { Wire } from '../wire.ts'

const flags = ['--json', '--port', '0', '--without-connection-token', '--log-level', 'error']

/** The arguments that start `atrium serve` on a data folder. */
export function atrium(data: string): readonly string[] {
  return [command, 'serve', ...flags, '--data', data]
}

/** Starts a host, sends it one request, and kills it. Returns the milliseconds from the start to the answer. */
export async function firstAnswer(args: readonly string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { readonly url: string }
    const wire = await Wire.open(Number(new URL(url).port))
    await wire.ask('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId: 'bench' })
    const time = performance.now() - began
    wire.close()
    return time
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}
