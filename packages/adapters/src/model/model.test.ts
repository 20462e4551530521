import { agentContract } from '../../../host/src/ports/contracts/agent.contract.ts'
import { scriptedProvider } from '../../test/scripted-model.ts'
import { agentOn } from './model.ts'

/** A timer that fires as soon as the event loop is idle, whatever the delay. */
const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
const world = { later, now: () => 0 }

agentContract('model', () => agentOn([scriptedProvider()], { world, platform: 'test' }), {
  prompts: [
    'say Hello, wörld!',
    'think about doors ; say I thought',
    'say first ; call read {"path":"a.txt"} ; say then',
    'call list {} ; call search {"text":"x"} ; say both',
    'call read {"wrong":1} ; say so',
    'call nothing {} ; say so',
    'call spawn {"title":"hello","task":"say hello there"} ; say it did',
    'nothing that I know',
  ],
  failing: 'fail 400',
  calling: (tool, input) => `call ${tool} ${input} ; say done`,
  deterministic: true,
})
