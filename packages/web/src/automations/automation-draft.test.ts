import { definitionFor } from '@atrium/protocol/automation/task'
import { expect, test } from 'vitest'
import { draftOf, readDraft } from './automation-draft.ts'

const defaults = { path: '/home', agents: [] }
const daily = { expression: '0 9 * * *', timeZone: 'Europe/Berlin' }
const before = definitionFor({ text: 'look', schedule: daily, provider: 'guide', folder: 'file:///shop' })

test('[U62.3] a draft has the time as a phrase, and is read as a task', () => {
  const draft = draftOf(before, defaults)
  expect(draft).toMatchObject({ when: 'daily 9:00', zone: 'Europe/Berlin', path: '/shop', overlap: 'skip' })
  expect(readDraft(draft).schedule).toEqual(daily)
  expect(readDraft({ ...draft, when: 'noon' }).problem).toMatch(/“noon” is no time/)
  expect(readDraft({ ...draft, zone: 'Mars' }).problem).toMatch(/no time zone/)
  expect(readDraft({ ...draft, text: ' ' }).task).toBeUndefined()
  expect(readDraft({ ...draft, when: '' }).task).toMatchObject({ schedule: undefined })
})

test('[U62.4] a draft keeps the folders of an automation, also that there are none, until another one is chosen', () => {
  const { workingDirectories: _, ...session } = before.session
  const none = { ...before, session }
  for (const definition of [before, none]) {
    const draft = draftOf(definition, defaults)
    const { task } = readDraft(draft)
    expect(task && definitionFor(task, definition).session).toEqual(definition.session)
    expect(readDraft({ ...draft, path: '/other' }).task?.folder).toBe('file:///other')
  }
  expect(readDraft({ ...draftOf(undefined, defaults), text: 'x' }).task?.folder).toBe('file:///home')
})
