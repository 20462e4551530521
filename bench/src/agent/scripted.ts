import { AcpAgent } from '@atrium/adapters/acp'
import { Watchdog } from '@atrium/adapters/process/watchdog'
import type { World } from '@atrium/host/ports/world'
import { agentFile } from './pipe.ts'

/** The agent program of `acp-child.ts`, wrapped so that a host can be created with it. */
export function scripted({ later }: World): AcpAgent {
  const program = {
    name: 'scripted',
    displayName: 'Scripted',
    command: process.execPath,
    args: [agentFile],
    env: {},
    variables: /$^/,
  }
  const options = {
    later,
    watchdog: new Watchdog('bench'),
    mark: 'bench',
    environment: process.env,
    version: '0',
  }
  return new AcpAgent(program, options)
}
