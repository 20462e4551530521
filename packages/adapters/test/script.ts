import { goOn } from '../src/model/prompt.ts'

/** What a model is sent, as far as a script has to do with it. */
export interface Heard {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
}

/** What it does then. `fail`: it answers with a status, so many times. */
export type Spoken =
  | { readonly kind: 'think' | 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: string; readonly more?: boolean }
  | { readonly kind: 'fail'; readonly status: number }
  | { readonly kind: 'break' | 'hang' | 'junk' }

/**
 * A model without a mind: the last message that somebody wrote is a script, its steps between ` ; ` (calls that are made together, between ` & `), and what was said and called since tells
 * how far it came. The same is answered to the same.
 */
export function script(heard: readonly Heard[]): readonly Spoken[] {
  const at = heard.findLastIndex(({ role, text }) => role === 'user' && text !== goOn)
  const since = heard.slice(at + 1)
  const lastDone = since.findLastIndex(isDone)
  let said = since
    .slice(lastDone + 1)
    .map(({ role, text }) => (role === 'assistant' ? text : ''))
    .join('')
  let done = since.filter(isDone).length
  const spoken: Spoken[] = []
  for (const step of stepsOf(heard[at]?.text ?? '')) {
    if (done > 0) {
      if (step.kind === 'call') done--
      continue
    }
    if (step.kind === 'think' && said !== '') continue
    if (step.kind === 'say') {
      const same = said.slice(0, step.text.length)
      said = said.slice(same.length)
      if (step.text.length > same.length) spoken.push({ kind: 'say', text: step.text.slice(same.length) })
      continue
    }
    spoken.push(step)
    if (step.kind !== 'think' && !(step.kind === 'call' && step.more)) break
  }
  return spoken
}

function isDone({ role, text }: Heard): boolean {
  return role === 'tool' && !text.startsWith('This was interrupted')
}

function stepsOf(text: string): readonly Spoken[] {
  return text.split(' ; ').flatMap((step) => {
    const lines = step.split(' & call ').map((line, i) => (i === 0 ? line : `call ${line}`))
    return lines.map((line, i) => stepOf(line, text, i < lines.length - 1))
  })
}

function stepOf(line: string, text: string, more: boolean): Spoken {
  const [, verb = '', rest = ''] = /^\s*(\w+)\s?([\s\S]*)$/.exec(line) ?? []
  const [, name = '', input = ''] = /^(\w+)\s*([\s\S]*)$/.exec(rest) ?? []
  if (verb === 'think' || verb === 'say') return { kind: verb, text: rest }
  if (verb === 'call') return { kind: 'call', name, input, more }
  if (verb === 'fail') return { kind: 'fail', status: Number(rest) }
  if (verb === 'break' || verb === 'hang' || verb === 'junk') return { kind: verb }
  return { kind: 'say', text: `I heard ${JSON.stringify(text.slice(0, 20))}` }
}

/** A text in a few pieces, none of which ends within a letter. */
export function pieces(text: string): readonly string[] {
  const length = Math.max(4, Math.ceil(text.length / 32))
  return [...text.matchAll(new RegExp(`[\\s\\S]{1,${length}}`, 'gu'))].map(([piece]) => piece)
}
