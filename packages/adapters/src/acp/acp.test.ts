import { afterAll, beforeAll } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentContract } from '../../../host/src/ports/contracts/agent.contract.ts'
import { roughAgentContract } from '../../../host/src/ports/contracts/agent-rough.contract.ts'
import type { AcpAgent } from './acp.ts'
import { linesIn, scriptedAgent } from '../../test/acp.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-acp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let shared: ReturnType<typeof scriptedAgent>
beforeAll(() => {
  shared = scriptedAgent({ folder, quirks: ['http'], onEnd: (close) => void closings.push(close) })
})
const closings: (() => Promise<void>)[] = []
afterAll(() => Promise.all(closings.map((close) => close())))

// All tests of the suite use one agent process. So a turn that leaves something behind makes the next test fail.
agentContract('acp', () => shared.agent, {
  prompts: [
    'say Hello',
    'think hm\nsay one\ncall c1 read Look\nchange c1 {"status":"completed"}\nplan pending a;completed b\nusage 1 9',
    'image aGVsbG8=\nend max_tokens',
  ],
  failing: 'error -32603 no',
  calling: (tool, input) => `mcp atrium ${tool} ${input}\nsay done`,
})

roughAgentContract('acp', () => scriptedAgent({ folder, quirks: ['ignores-eof'] }).agent, {
  // The suite passes only agents that the function above has returned, so the agent is an AcpAgent.
  kill: (agent) => (agent as AcpAgent).close(),
  asking: { text: 'do c1 effects\nsay done', runs: () => linesIn(join(folder, 'effects')).length },
  breaking: ['crash 3', 'close-stdout', 'say before\ncrash', 'error 400 bad', 'error -32000 who are you'],
  hanging: 'hang',
  flood: {
    text: 'flood 25000',
    words: 25_000,
    produced: () => Number(linesIn(join(folder, 'flood'))[0] ?? 0),
  },
})
