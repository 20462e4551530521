import { reducer } from '../reduce.ts'
import { compact, patch } from '../update.ts'
import type { TerminalAction } from './actions.ts'
import type { TerminalContentPart, TerminalLifecycle, TerminalState } from './state.ts'

type Exited = Extract<TerminalLifecycle, { status: 'exited' }>

export const reduceTerminal = reducer<TerminalState, TerminalAction>({
  'terminal/data': (state, { data }) => {
    const last = state.content.at(-1)
    const grown = last && appended(last, data)
    if (grown) return { ...state, content: state.content.with(-1, grown) }
    return { ...state, content: [...state.content, { type: 'unclassified', value: data }] }
  },

  'terminal/input': (state) => state,
  'terminal/resized': (state, { cols, rows }) => ({ ...state, cols, rows }),
  'terminal/claimed': (state, { claim }) => ({ ...state, claim }),
  'terminal/titleChanged': (state, { title }) => ({ ...state, title }),
  'terminal/cwdChanged': (state, { cwd }) => ({ ...state, cwd }),
  'terminal/exited': (state, { exitCode }) => ({
    ...state,
    lifecycle: compact<Exited>({ status: 'exited', exitCode }),
  }),
  'terminal/cleared': (state) => ({ ...state, content: [] }),
  'terminal/commandDetectionAvailable': (state) => ({ ...state, supportsCommandDetection: true }),

  'terminal/commandExecuted': (state, { commandId, commandLine, timestamp }) => ({
    ...state,
    supportsCommandDetection: true,
    content: [
      ...state.content,
      { type: 'command', commandId, commandLine, output: '', timestamp, isComplete: false },
    ],
  }),

  'terminal/commandFinished': (state, { commandId, exitCode, durationMs }) => ({
    ...state,
    content: state.content.map((part) =>
      part.type === 'command' && part.commandId === commandId
        ? patch(part, { isComplete: true, exitCode, durationMs })
        : part,
    ),
  }),
})

/** Appends data to a part. Returns `undefined` if the part is a finished command or of an unknown type. */
function appended(part: TerminalContentPart, data: string): TerminalContentPart | undefined {
  if (part.type === 'unclassified') return { ...part, value: part.value + data }
  if (part.type === 'command' && !part.isComplete) return { ...part, output: part.output + data }
  return undefined
}
