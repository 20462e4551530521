import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { withVisibleControls } from '../../ui/visible-controls.ts'
import { plainText } from '../shared/text.ts'

export interface ToolWords {
  readonly title: StringOrMarkdown
  readonly state: string
  readonly tone: 'quiet' | 'busy' | 'asks' | 'good' | 'bad'
}

/** A tool call in words: what it does, and how far it is. */
export function toolWords(call: ToolCallState): ToolWords {
  const { invocationMessage = '' } = call
  const title = plainText(invocationMessage) === '' ? call.displayName : invocationMessage
  switch (call.status) {
    case 'streaming':
      return { title, state: 'being written', tone: 'busy' }
    case 'pending-confirmation':
      return { title, state: 'asks', tone: 'asks' }
    case 'running':
      return { title, state: 'running', tone: 'busy' }
    case 'auth-required':
      return { title, state: 'needs sign-in', tone: 'asks' }
    case 'pending-result-confirmation':
      return { title, state: 'asks about its result', tone: 'asks' }
    case 'completed': {
      const done = call.pastTenseMessage
      return {
        title: plainText(done) === '' ? title : done,
        state: call.success ? 'done' : 'failed',
        tone: call.success ? 'good' : 'bad',
      }
    }
    case 'cancelled':
      return { title, state: call.reason === 'result-denied' ? 'result denied' : call.reason, tone: 'quiet' }
    default:
      // This status is newer than the page.
      return { title, state: 'in a state that this page does not know', tone: 'quiet' }
  }
}

/** The input of a call, if it is text that the title does not already show. */
export function inputText(call: ToolCallState): string | undefined {
  const input = call.status === 'streaming' ? call.partialInput : call.toolInput
  if (typeof input !== 'string' || input.trim() === '') return undefined
  return plainText(call.invocationMessage).includes(input.trim())
    ? undefined
    : withVisibleControls(readable(input))
}

/**
 * The input of a call that asks, as people read it before they allow it. Undefined if there is none, or if the title
 * shows all of a short one. `stored`: the text of an input that the call only refers to.
 */
export function askedText(call: ToolCallState, stored?: string): string | undefined {
  const input = stored ?? (call.status === 'streaming' ? call.partialInput : call.toolInput)
  if (typeof input !== 'string' || input.trim() === '') return undefined
  const isShort = input.length <= 200 && !input.trim().includes('\n')
  return isShort ? inputText(call) : withVisibleControls(readable(input))
}

/** The input of a call, for its title. Empty if the title shows it, if it is still streamed, or if it is too long. */
export function shortInput(call: ToolCallState, title: StringOrMarkdown): string {
  const input = call.status === 'streaming' ? undefined : call.toolInput
  if (typeof input !== 'string' || input.includes('\n') || input.length > 200) return ''
  return plainText(title).includes(input.trim()) ? '' : membersOf(input.trim())
}

/** The members of a flat JSON object as people write them: `path: a.ts, limit: 5`, or the value of the only one. */
function membersOf(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    // A JSON object has members of any kind: hence the cast.
    const members = Object.entries(JSON.parse(text) as { readonly [name: string]: unknown })
    if (members.some(([, value]) => typeof value === 'object')) return text
    const [only, ...others] = members
    if (only && others.length === 0) return String(only[1])
    return members.map(([name, value]) => `${name}: ${String(value)}`).join(', ')
  } catch {
    return text
  }
}

/** JSON with its lines and indents; other text as it is. */
function readable(text: string): string {
  if (!/^\s*[{[]/.test(text) || text.length > 100_000) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
