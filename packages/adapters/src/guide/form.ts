import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import { withoutRepeated } from '@atrium/protocol/chat/repeated-request'
import type { ActiveTurn, InputRequestPart } from '@atrium/protocol/chat/state'
import type { ChatInputAnswer, ChatInputRequest } from '@atrium/protocol/chat/request'
import type { FormStep } from './script.ts'

/** Returns a form with one question of each kind. */
export function exampleForm(topic: string): Omit<ChatInputRequest, 'id'> {
  const options = ['Small', 'Medium', 'Large'].map((label) => ({ id: label.toLowerCase(), label }))
  return {
    message: topic === '' ? 'Some questions, one of each kind.' : topic,
    questions: [
      { kind: 'text', id: 'name', message: 'What shall it be called?', required: true },
      { kind: 'number', id: 'price', message: 'What may it cost?', min: 0 },
      { kind: 'integer', id: 'count', message: 'How many?', min: 1, max: 10, defaultValue: 1 },
      { kind: 'boolean', id: 'gift', message: 'Is it a gift?', defaultValue: false },
      { kind: 'single-select', id: 'size', message: 'Which size?', options },
      {
        kind: 'multi-select',
        id: 'extras',
        message: 'Anything with it?',
        options: extras,
        allowFreeformInput: true,
      },
    ],
  }
}

const extras = [
  { id: 'box', label: 'A box' },
  { id: 'card', label: 'A card' },
]

/**
 * Shows a form and waits for the response, without a time limit. `target` is the id for a new form, or the open form of a
 * resumed turn.
 */
export async function* askForm(
  { request }: FormStep,
  chat: Chat,
  target: InputRequestPart | string,
): AsyncIterable<AgentAction> {
  const id = typeof target === 'string' ? target : target.request.id
  if (typeof target === 'string') yield { type: 'chat/inputRequested', request: { ...request, id } }
  await chat.when(({ activeTurn }) => activeTurn !== undefined && formIn(activeTurn)?.response !== undefined)
}

/** Returns the answers as Markdown. The text is empty until a user has responded to the form. */
export function answersText(turn: ActiveTurn): string {
  const form = formIn(turn)
  if (form?.response === undefined) return ''
  if (form.response !== 'accept') return 'You did not want to answer. That is fine.'
  const answers = new Map(Object.entries(form.request.answers ?? {}))
  const lines = (form.request.questions ?? []).map(
    ({ id, message }) => `- ${message} ${valueText(answers.get(id))}`,
  )
  return ['You answered:', '', ...lines].join('\n')
}

function formIn({ responseParts }: ActiveTurn): InputRequestPart | undefined {
  return withoutRepeated(responseParts).find((part): part is InputRequestPart => part.kind === 'inputRequest')
}

function valueText(answer: ChatInputAnswer | undefined): string {
  if (answer?.state !== 'submitted') return '(nothing)'
  const { value } = answer
  if (value.kind === 'boolean') return value.value ? 'Yes' : 'No'
  const chosen = Array.isArray(value.value) ? value.value : [String(value.value)]
  const free = 'freeformValues' in value ? (value.freeformValues ?? []) : []
  return [...chosen, ...free].filter((text) => text !== '').join(', ') || '(nothing)'
}
