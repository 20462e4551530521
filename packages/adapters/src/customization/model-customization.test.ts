import { expect, test } from 'vitest'
import { callsIn, modelRoom } from '../../test/model-room.ts'

const files = {
  '.agents/rules/style.mdc': '---\ndescription: Style\nalwaysApply: true\n---\nUse tabs.',
  '.agents/rules/tests.mdc': '---\ndescription: Tests\nglobs: "**/*.test.ts"\n---\nWait on states.',
  '.agents/rules/names.mdc': '---\ndescription: How to name things\n---\nNouns.',
  '.agents/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: Cleans up\n---\nRemove dead code.',
  '.agents/commands/review.md': '---\ndescription: Reviews\n---\nReview $ARGUMENTS with care.',
}

test('[N30.3] [N30] the model gets the rules of a session, and the names of its skills', async () => {
  const { provider, begin, ended } = await modelRoom(files)
  await ended(await begin('say hello'))
  const system = JSON.stringify(provider.model.doStreamCalls[0]?.prompt[0])
  expect(system).toContain('Rule \\"style\\":\\n\\nUse tabs.')
  expect(system).toContain('Rule \\"tests\\" for files that match **/*.test.ts:\\n\\nWait on states.')
  expect(system).toContain('- tidy: Cleans up\\n- names: How to name things')
  expect(system).not.toContain('Remove dead code.')
  expect(provider.model.doStreamCalls[0]?.tools?.map(({ name }) => name)).toContain('skill')
})

test('[N30.3] [N30] the model reads a skill with a tool, and learns which skill there is not', async () => {
  const { begin, ended } = await modelRoom(files)
  const turn = await ended(await begin('call skill {"name":"tidy"} ; call skill {"name":"x"} ; say done'))
  const [tidy, missing] = callsIn(turn)
  expect(tidy).toMatchObject({ status: 'completed', success: true })
  expect(JSON.stringify(tidy)).toContain('Remove dead code.')
  expect(missing).toMatchObject({ success: false, error: { message: 'there is no skill `x`' } })
})

test('[N30.3] [N30] a command of a customization stands for its text', async () => {
  const { provider, begin, ended } = await modelRoom(files)
  await ended(await begin('/review a.ts'))
  expect(JSON.stringify(provider.model.doStreamCalls[0]?.prompt[0])).toContain('Review a.ts with care.')
})

test('[N30.3] [N30] without skills, the model has no tool for them', async () => {
  const { provider, begin, ended } = await modelRoom()
  await ended(await begin('say hello'))
  expect(provider.model.doStreamCalls[0]?.tools?.map(({ name }) => name)).not.toContain('skill')
})
