import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'
import { customText } from '../acp/prompt.ts'

test('[N51] an ACP agent gets the rules and skills of a session once, and again after a change', async () => {
  const room = await acpRoom()
  put(room, '.agents/rules/style.mdc', '---\ndescription: Style\nalwaysApply: true\n---\nUse tabs.')
  put(room, '.agents/skills/tidy/SKILL.md', '---\nname: tidy\ndescription: Cleans up\n---\nRemove dead code.')
  const texts = async (script: string) => {
    await room.turn(script)
    return promptTexts(room).at(-1)
  }
  const skill = join(room.folder, '.agents/skills/tidy/SKILL.md')
  const list = `Skills. Read the file of one before a task that it is about:\n- tidy (${skill}): Cleans up`
  expect(await texts('say one')).toEqual([`Rule "style":\n\nUse tabs.\n\n${list}`, 'say one'])
  expect(await texts('say two')).toEqual(['say two'])
})

test('[N51] a command of a customization reaches an ACP agent as its text', async () => {
  const room = await acpRoom()
  put(room, '.agents/commands/greet.md', '---\ndescription: Greets\n---\nsay $ARGUMENTS')
  await room.turn('/greet Ann')
  expect(promptTexts(room).at(-1)).toEqual(['say Ann'])
})

test('[N51.1] [N51] Claude is not given what it reads itself', () => {
  const rule = (uri: string) => ({ name: uri, uri, text: 'x' })
  const rules = [rule('file:///w/.claude/rules/a.md'), rule('file:///w/.agents/rules/b.mdc')]
  const customized = { rules, skills: [], context: [] }
  expect(customText(customized, 'claude')).not.toContain('.claude')
  expect(customText(customized, 'goose')).toContain('.claude')
})

function put(room: AcpRoom, path: string, text: string): void {
  mkdirSync(dirname(join(room.folder, path)), { recursive: true })
  writeFileSync(join(room.folder, path), text)
}

/** The texts of each prompt that the agent got. */
function promptTexts(room: AcpRoom): readonly (readonly string[])[] {
  return room.agent.lines('prompts').map((line) => {
    // The agent writes down the blocks of each prompt.
    const { prompt } = JSON.parse(line) as { readonly prompt: readonly { readonly text?: string }[] }
    return prompt.flatMap(({ text }) => text ?? [])
  })
}
