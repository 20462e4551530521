import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'
import { hasGit, makeRepository } from '../../test/repository.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

/** The number of finished turns. A chat that has just been opened is drawn late, so this waits for its turns. */
async function finishedTurns(page: Page): Promise<number> {
  await page.locator('.turn-foot').first().waitFor()
  return page.locator('.turn-foot').count()
}

/** Sends a message that needs an approval, and approves it. */
async function approved(page: Page, text: string): Promise<void> {
  const done = await finishedTurns(page)
  await send(page, text)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await eventually(() => page.locator('.turn-foot').count()).toBe(done + 1)
}

const changesOf = (page: Page) => page.getByRole('region', { name: 'Changes', exact: true })

async function openChanges(page: Page, scope: string): Promise<void> {
  await page.getByRole('button', { name: 'Changes', exact: true }).click()
  await changesOf(page).getByRole('button', { name: scope, exact: true }).click()
}

browserTest(
  '[U30] a difference stands in one column or side by side; the choice is kept, and gaps are opened',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'notes.txt': numbered(2000) })
    const page = await room.page()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    await approved(page, 'edit notes.txt line 1000 => line one thousand')
    await openChanges(page, 'Uncommitted')
    const changes = changesOf(page)
    await changes.locator('.diff-row.removed', { hasText: 'line 1000' }).waitFor()
    await changes.getByRole('button', { name: 'Side by side' }).click()
    const sides = changes.locator('.diff-row.split', { hasText: 'line one thousand' }).locator('.diff-side')
    await eventually(() => sides.allInnerTexts()).toEqual([
      expect.stringContaining('line 1000'),
      expect.stringContaining('line one thousand'),
    ])
    await shot(page, 'changes-split')
    await expectAccessibleInBoth(page, 'split diff')
    await changes.getByRole('button', { name: '⋯ Show 996 lines' }).click()
    await changes.getByText('line 700', { exact: true }).waitFor({ state: 'detached' })
    expect(await changes.locator('.diff-row').count()).toBeLessThan(400)
    await changes.evaluate('document.querySelector(".changes").scrollTop = 700 * 20')
    await changes.getByText('line 700', { exact: true }).first().waitFor()
    expect(await changes.locator('.diff-row').count()).toBeLessThan(400)
    await page.reload()
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    await changesOf(page).locator('.diff-row.split', { hasText: 'line one thousand' }).waitFor()
    await page.setViewportSize({ width: 360, height: 700 })
    await changesOf(page).locator('.diff-row.removed', { hasText: 'line 1000' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await shot(page, 'changes-phone')
    expectUnharmed(page)
  },
  { git: hasGit },
)

browserTest(
  '[U30] parts of a file are marked as reviewed one by one, and other pages see the marks',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'notes.txt': numbered(40) })
    const ann = await room.page()
    await begin(ann, 'say begun')
    await ann.locator('.turn-foot').waitFor()
    writeFileSync(
      join(room.folder, 'notes.txt'),
      numbered(40).replace('line 5\n', 'five\n').replace('line 30\n', ''),
    )
    await openChanges(ann, 'Uncommitted')
    const ben = await room.page()
    await ben.getByText('say begun').first().click()
    await openChanges(ben, 'Uncommitted')
    const mark = (page: Page, words: string) => changesOf(page).getByLabel(`Reviewed: ${words}`)
    await mark(ann, 'line 5').check()
    await eventually(() => mark(ben, 'line 5').isChecked()).toBe(true)
    expect(await mark(ben, 'removed line 30').isChecked()).toBe(false)
    expect(await changesOf(ben).locator('.changed.reviewed').count()).toBe(0)
    await mark(ben, 'removed line 30').check()
    for (const page of [ann, ben]) await changesOf(page).locator('.changed.reviewed').waitFor()
    await shot(ann, 'changes-hunks')
    await changesOf(ann).getByRole('button', { name: 'Discard Changes: removed line 30' }).click()
    await ann.getByRole('dialog').getByRole('button', { name: 'Discard Changes' }).click()
    await eventually(() => readFileSync(join(room.folder, 'notes.txt'), 'utf8')).toBe(
      numbered(40).replace('line 5\n', 'five\n'),
    )
    expectUnharmed(ann, ben)
  },
  { git: hasGit },
)

browserTest(
  '[U31] comments stand at their lines on every page: written, answered, resolved, and of the agent',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'notes.txt': numbered(40) })
    const ann = await room.page()
    await begin(ann, 'say begun')
    await ann.locator('.turn-foot').waitFor()
    await approved(ann, 'edit notes.txt line 20 => twenty')
    await openChanges(ann, 'Uncommitted')
    await changesOf(ann).getByRole('button', { name: 'Comment on line 20' }).first().click()
    await ann.getByRole('textbox', { name: 'Comment on line 20' }).fill('Why <b>twenty</b>?')
    await shot(ann, 'comment-form')
    await expectAccessibleInBoth(ann, 'comment form')
    await ann.getByRole('button', { name: 'Save' }).click()
    const ben = await room.page()
    await ben.getByText('say begun').first().click()
    await openChanges(ben, 'Uncommitted')
    const thread = (page: Page) => changesOf(page).getByRole('region', { name: /^Comment: Why/ })
    await thread(ben).getByText('Why <b>twenty</b>?').waitFor()
    await thread(ben).getByRole('button', { name: 'Reply' }).click()
    await ben.getByRole('textbox', { name: 'Answer' }).fill('Because it is a word')
    await ben.keyboard.press('Control+Enter')
    await thread(ann).getByText('Because it is a word').waitFor()
    await sendInChat(ann, 'comment notes.txt:3 the agent looks at this')
    await openChanges(ann, 'Uncommitted')
    const agents = changesOf(ann).getByRole('region', { name: /^Comment: the agent/ })
    await agents.waitFor()
    expect(await changesOf(ann).locator('.diff-row', { hasText: 'line 3' }).count()).toBeGreaterThan(0)
    await shot(ann, 'comments')
    await expectAccessibleInBoth(ann, 'comments')
    await agents.getByRole('button', { name: 'Remove' }).click()
    await agents.waitFor({ state: 'detached' })
    await thread(ann).getByRole('button', { name: 'Resolve' }).click()
    await thread(ben).getByText('resolved').waitFor()
    await changesOf(ann).getByRole('button', { name: 'Comment', exact: true }).click()
    await ann.getByRole('textbox', { name: 'Comment on the file' }).fill('The whole file')
    await ann.getByRole('button', { name: 'Save' }).click()
    await changesOf(ben).getByRole('region', { name: 'Comment: The whole file' }).waitFor()
    expectUnharmed(ann, ben)
  },
  { git: hasGit },
)

/** Sends a message from the view of changes, by way of the chat. */
async function sendInChat(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  const done = await finishedTurns(page)
  await send(page, text)
  await eventually(() => page.locator('.turn-foot').count()).toBe(done + 1)
}

browserTest(
  '[U32] an undo lists what it leaves, and a person decides about each conflict',
  async () => {
    const room = await Room.open()
    const files = ['keep.txt', 'copy.txt', 'anyway.txt', 'fine.txt']
    makeRepository(room.folder, Object.fromEntries(files.map((name) => [name, 'before\n'])))
    const page = await room.page()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    await approved(page, `run sed -i s/before/after/ ${files.join(' ')}`)
    for (const name of files.slice(0, 3)) appendFileSync(join(room.folder, name), 'by a person\n')
    const text = (name: string) => readFileSync(join(room.folder, name), 'utf8')
    await openChanges(page, 'Last turn')
    const conflicts = page.getByRole('region', { name: 'Conflicts of an undo' })
    await eventually(() => conflicts.getByRole('listitem').count()).toBe(4)
    await conflicts.getByText(/^changed while `sed .*it may be a person's work$/).waitFor()
    await shot(page, 'conflicts')
    await expectAccessibleInBoth(page, 'conflicts')
    await changesOf(page)
      .getByRole('button', { name: /with Copies/ })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/fine\.txt changed while .*NAME\.before-undo/).waitFor()
    await shot(page, 'undo')
    await dialog.getByRole('button', { name: /with Copies/ }).click()
    await eventually(() => text('fine.txt')).toBe('before\n')
    expect(text('fine.txt.before-undo')).toBe('after\n')
    expect(text('keep.txt')).toBe('after\nby a person\n')
    await conflicts.getByRole('button', { name: 'Keep the File as It Is: keep.txt' }).click()
    await eventually(() => conflicts.getByRole('listitem').count()).toBe(2)
    await conflicts.getByRole('button', { name: 'Undo, and Keep a Copy of the File: copy.txt' }).click()
    await eventually(() => text('copy.txt')).toBe('before\n')
    expect(readdirSync(room.folder)).toContain('copy.txt.before-undo')
    await conflicts.getByRole('button', { name: 'Undo Anyway: anyway.txt' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo Anyway' }).click()
    await eventually(() => text('anyway.txt')).toBe('before\n')
    await conflicts.waitFor({ state: 'detached' })
    const tree = page.getByRole('navigation', { name: 'Changed files' })
    await tree.getByRole('button', { name: /keep\.txt/ }).click()
    await eventually(() => page.evaluate('document.activeElement.innerText')).toContain('keep.txt')
    expect(text('keep.txt')).toBe('after\nby a person\n')
    expectUnharmed(page)
  },
  { git: hasGit },
)

browserTest(
  '[U33] chosen files are committed with a message; a refusal is said, and keeps the message',
  async () => {
    const room = await Room.open()
    const git = makeRepository(room.folder, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const page = await room.page()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    writeFileSync(join(room.folder, 'a.txt'), 'A\n')
    writeFileSync(join(room.folder, 'b.txt'), 'B\n')
    await openChanges(page, 'Uncommitted')
    await changesOf(page).getByText('2 files').waitFor()
    await changesOf(page).getByRole('button', { name: 'Commit…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Commit message').fill('Louder')
    await dialog.getByLabel('b.txt').uncheck()
    await shot(page, 'commit')
    await expectAccessibleInBoth(page, 'commit')
    git('config', '--unset', 'user.email')
    await dialog.getByRole('button', { name: 'Commit 1 file' }).click()
    await dialog.getByText(/Nothing was committed: .*user\.email/).waitFor()
    expect(await dialog.getByLabel('Commit message').inputValue()).toBe('Louder')
    git('config', 'user.email', 'ann@example.com')
    await dialog.getByRole('button', { name: 'Commit 1 file' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(git('log', '-1', '--format=%s', '--name-only').split(/\s+/)).toEqual(['Louder', 'a.txt'])
    await changesOf(page).getByText('1 file', { exact: true }).waitFor()
    expectUnharmed(page)
  },
  { git: hasGit },
)

browserTest(
  '[U33] a session in a worktree is applied to the main checkout, and the page says why if it is not',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'a.txt': 'a\n' })
    const page = await room.page()
    await page.getByLabel('What shall be done?').fill('say begun')
    await page.getByLabel('Isolation').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.locator('.turn-foot').waitFor()
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    await changesOf(page)
      .getByText(/works in a worktree of its own/)
      .waitFor()
    await changesOf(page).getByRole('button', { name: 'Session', exact: false }).first().click()
    await changesOf(page)
      .getByText(/is not possible now: /)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Chat', exact: true }).click()
    await approved(page, 'write b.txt from the worktree')
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    await changesOf(page).getByRole('button', { name: 'Session', exact: false }).first().click()
    await shot(page, 'apply')
    await changesOf(page)
      .getByRole('button', { name: /^Apply/ })
      .click()
    await page
      .getByRole('dialog')
      .getByText(/will be applied to the branch main/)
      .waitFor()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click()
    await eventually(() => readdirSync(room.folder)).toContain('b.txt')
    expect(readFileSync(join(room.folder, 'b.txt'), 'utf8')).toContain('from the worktree')
    expectUnharmed(page)
  },
  { git: hasGit },
)
