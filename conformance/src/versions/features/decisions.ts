import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import { shapeOf } from '@atrium/protocol/versions/shape'
import { answerTo, answersTo, simplestQuestion } from '../../kit/answer.ts'
import { Skipped, same } from '../../kit/check.ts'
import type { Feature, Member, Scene } from '../scene.ts'
import { callWith, openRequest, pending, pendingResult, untilAsked } from './held-turn.ts'
import { allSeeEnd, endedTurn } from './turns.ts'

export const approve: Feature = {
  name: 'approve',
  async run(scene, actor) {
    const { toolPrompt } = scene.options
    if (toolPrompt === undefined)
      throw new Skipped('no --tool-prompt says how to make the agent ask before it uses a tool')
    const turnId = await scene.startTurn(scene.another(actor), toolPrompt)
    const call = await untilAsked(scene, actor, turnId, (member) => callWith(member, turnId, pending))
    await scene.all(actor, 'a tool call that waits for approval', (member) =>
      callWith(member, turnId, pending),
    )
    await approveAll(scene, actor, turnId)
    await allSeeEnd(scene, actor, turnId)
    await scene.each(actor, (member) => {
      const seen = endedTurn(member, turnId)?.calls.find(({ id }) => id === call.id)
      same('the tool call', { status: 'completed', confirmed: 'user-action' }, seen && statusOf(seen))
    })
  },
}

function statusOf({ status, confirmed }: { status: string; confirmed: string | undefined }): object {
  return { status, confirmed }
}

/** Approves every call of a turn, and every result that needs it, until the turn ends. */
async function approveAll({ turnTimeoutMs }: Scene, actor: Member, turnId: string): Promise<void> {
  const { speaker, view } = actor
  for (;;) {
    const call = await speaker.until(
      'the turn to go on after the approval',
      () =>
        callWith(actor, turnId, pending) ??
        callWith(actor, turnId, pendingResult) ??
        (endedTurn(actor, turnId) ? ('ended' as const) : undefined),
      turnTimeoutMs,
    )
    if (call === 'ended') return
    const fields = { turnId, toolCallId: call.id, approved: true }
    if (call.status === pending) await view.say('toolCallConfirmed', { ...fields, confirmed: 'user-action' })
    else await view.say('toolCallResultConfirmed', fields)
  }
}

export const answer: Feature = {
  name: 'answer',
  async run(scene, actor) {
    const { formPrompt } = scene.options
    if (formPrompt === undefined)
      throw new Skipped('no --form-prompt says how to make the agent ask questions')
    const turnId = await scene.startTurn(scene.another(actor), formPrompt)
    // The questions have the same shape in all versions, so the newest type describes them.
    const request = (await untilAsked(scene, actor, turnId, (member) =>
      openRequest(member, turnId),
    )) as unknown as ChatInputRequest
    await scene.all(
      actor,
      'the questions of the agent',
      (member) => openRequest(member, turnId)?.['id'] === request.id,
    )
    await draft(scene, actor, turnId, request)
    const answers = answersTo(request)
    await actor.view.say('inputCompleted', { requestId: request.id, response: 'accept', answers })
    await allSeeEnd(scene, actor, turnId)
    await scene.each(actor, (member) => {
      // Up to 0.5.1 the state no longer contains a request after it is answered.
      if (!member.speaker.has('0.5.2')) return
      const seen = endedTurn(member, turnId)?.responses.find(({ id }) => id === request.id)
      same('the response to the questions', 'accept', seen?.response)
    })
  },
}

/** Drafts an answer to one question, which all clients see before it is submitted. */
async function draft(scene: Scene, actor: Member, turnId: string, request: ChatInputRequest): Promise<void> {
  const question = simplestQuestion(request)
  const drafted = answerTo(question, 'draft')
  await actor.view.say('inputAnswerChanged', {
    requestId: request.id,
    questionId: question.id,
    answer: drafted,
  })
  await scene.all(actor, 'the draft of an answer', (member) => {
    const seen = shapeOf(shapeOf(openRequest(member, turnId)?.['answers'])[question.id])
    return JSON.stringify(shapeOf(seen['value'])['value']) === JSON.stringify(drafted.value.value)
  })
}
