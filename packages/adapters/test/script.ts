import { continuePrompt } from '../src/model/prompt.ts'

/** A message of a request, reduced to the fields that a script needs. */
export interface SentMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
}

/**
 * One step of a scripted model. `fail` answers with an HTTP status. `more` means that another call of the same response
 * follows.
 */
export type ScriptStep =
  | { readonly kind: 'think' | 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: string; readonly more?: boolean }
  | { readonly kind: 'fail'; readonly status: number }
  | { readonly kind: 'break' | 'hang' | 'junk' }

/**
 * Returns the next response of a scripted model. The last user message is the script. ` ; ` separates steps, and ` & `
 * separates the calls of one response. The messages after the script show how many steps are done, so equal requests get
 * equal responses.
 */
export function nextSteps(messages: readonly SentMessage[]): readonly ScriptStep[] {
  const at = messages.findLastIndex(({ role, text }) => role === 'user' && text !== continuePrompt)
  const since = messages.slice(at + 1)
  const lastResult = since.findLastIndex(isResult)
  let written = since
    .slice(lastResult + 1)
    .map(({ role, text }) => (role === 'assistant' ? text : ''))
    .join('')
  let results = since.filter(isResult).length
  const steps: ScriptStep[] = []
  for (const step of stepsOf(messages[at]?.text ?? '')) {
    if (results > 0) {
      if (step.kind === 'call') results--
      continue
    }
    if (step.kind === 'think' && written !== '') continue
    if (step.kind === 'say') {
      const repeated = written.slice(0, step.text.length)
      written = written.slice(repeated.length)
      if (step.text.length > repeated.length)
        steps.push({ kind: 'say', text: step.text.slice(repeated.length) })
      continue
    }
    steps.push(step)
    if (step.kind !== 'think' && !(step.kind === 'call' && step.more)) break
  }
  return steps
}

function isResult({ role, text }: SentMessage): boolean {
  return role === 'tool' && !text.startsWith('This was interrupted')
}

function stepsOf(text: string): readonly ScriptStep[] {
  return text.split(' ; ').flatMap((step) => {
    const lines = step.split(' & call ').map((line, i) => (i === 0 ? line : `call ${line}`))
    return lines.map((line, i) => stepOf(line, text, i < lines.length - 1))
  })
}

function stepOf(line: string, text: string, more: boolean): ScriptStep {
  const [, verb = '', rest = ''] = /^\s*(\w+)\s?([\s\S]*)$/.exec(line) ?? []
  const [, name = '', input = ''] = /^(\w+)\s*([\s\S]*)$/.exec(rest) ?? []
  if (verb === 'think' || verb === 'say') return { kind: verb, text: rest }
  if (verb === 'call') return { kind: 'call', name, input, more }
  if (verb === 'fail') return { kind: 'fail', status: Number(rest) }
  if (verb === 'break' || verb === 'hang' || verb === 'junk') return { kind: verb }
  return { kind: 'say', text: `I received ${JSON.stringify(text.slice(0, 20))}` }
}

/** Splits a text into a few pieces without splitting a character. */
export function pieces(text: string): readonly string[] {
  const length = Math.max(4, Math.ceil(text.length / 32))
  return [...text.matchAll(new RegExp(`[\\s\\S]{1,${length}}`, 'gu'))].map(([piece]) => piece)
}
