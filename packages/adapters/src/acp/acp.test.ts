import { afterAll, beforeAll } from 'vitest'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentContract } from '../../../host/src/ports/agent.contract.ts'
import { roughAgentContract } from '../../../host/src/ports/agent-rough.contract.ts'
import type { AcpAgent } from './acp.ts'
import { linesIn, scripted } from '../../test/acp.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-acp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let lasting: ReturnType<typeof scripted>
beforeAll(() => {
  lasting = scripted({ folder, ends: (end) => void ends.push(end) })
})
const ends: (() => Promise<void>)[] = []
afterAll(() => Promise.all(ends.map((end) => end())))

// One process for all of them: what one turn leaves behind, the next one would find.
agentContract('acp', () => lasting.agent, {
  prompts: [
    'say Hello',
    'think hm\nsay one\ncall c1 read Look\nchange c1 {"status":"completed"}\nplan pending a;completed b\nusage 1 9',
    'image aGVsbG8=\nend max_tokens',
  ],
  failing: 'error -32603 no',
})

roughAgentContract('acp', () => scripted({ folder, quirks: ['ignores-eof'] }).agent, {
  kill: (agent) => (agent as AcpAgent).close(),
  asking: { text: 'do c1 deeds\nsay done', deeds: () => linesIn(join(folder, 'deeds')).length },
  breaking: ['crash 3', 'close-stdout', 'say before\ncrash', 'error 400 bad', 'error -32000 who are you'],
  hanging: 'hang',
  flood: { text: 'flood 100000', words: 100_000, said: () => Number(linesIn(join(folder, 'flood'))[0] ?? 0) },
})
