import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  problemsOf,
  send,
  shot,
} from '../../test/browser.ts'
import { corpus } from '../../test/hostile-texts.ts'

browserTest(
  '[U18] [U18.1] [U18.2] [U18.3] [U57] [S-42] hostile text is shown as text: nothing runs, nothing is loaded, no policy is hit',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, `say ${corpus.join('\n\n')}`)
    await page.locator('.turn-foot').waitFor()
    await send(page, `think ${corpus.join('\n')}`)
    await page.locator('.turn-foot').nth(1).waitFor()
    await page.locator('.reasoning summary').first().click()
    await send(page, `say \`\`\`html\n${corpus.join('\n')}\n\`\`\``)
    await page.locator('.code .hl-name').first().waitFor()
    await shot(page, 'hostile')
    expect(await page.locator('.code').last().innerText()).toContain('⟨U+202E⟩evil⟨U+202C⟩')
    const answer = page.locator('.answer')
    for (const name of [
      'script',
      'iframe',
      'style',
      'link',
      'meta',
      'base',
      'form[action]',
      'object',
      'embed',
      'math',
    ])
      expect({ name, count: await answer.locator(name).count() }).toEqual({ name, count: 0 })
    // The types of the DOM are not those of a test: hence the cast.
    const href = (each: unknown) => (each as { readonly href: string }).href
    const links = await Promise.all(
      (await page.locator('.column a').all()).map((link) => link.evaluate(href)),
    )
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((each) => !/^(https?|mailto):/.test(each))).toEqual([])
    expect(await page.locator('.column img').count()).toBe(0)
    expect(await page.locator('.answer .markdown').first().innerText()).toContain('<script>owned()</script>')
    expect(await page.locator('.answer .markdown').first().innerText()).toContain('⟨U+202E⟩evil')

    writeFileSync(
      join(room.folder, 'notes.py'),
      Array.from({ length: 90 }, (_, at) => `n = ${at + 1}\n`).join(''),
    )
    const description =
      'a description that needs several lines, and more than the page has room for, '.repeat(3)
    await send(
      page,
      `say [https://bank.example](https://evil.example) and notes.py:70 and \`gone.py:1\`[^1]

| Name | Size | Modified | Description | Description |
| - | - | - | - | - |
| a-file-with-a-rather-long-name.txt | 1024 | yesterday | ${description} | ${description} |

$$
a_1 \\, b
$$

[^1]: A note`,
    )
    await page.locator('.turn-foot').nth(3).waitFor()
    await page.getByText('(leads to evil.example)').waitFor()
    await page.locator('.footnote-text', { hasText: 'A note' }).waitFor()
    expect(await page.locator('.code pre').last().innerText()).toBe('a_1 \\, b')
    const lines = await page.evaluate(`[...document.querySelectorAll('th')].map((each) => {
      const range = document.createRange()
      range.selectNodeContents(each)
      return range.getClientRects().length
    })`)
    expect(lines).toEqual([1, 1, 1, 1, 1])
    await shot(page, 'real-answer')
    await page.getByRole('button', { name: 'notes.py:70' }).click()
    const file = page.getByRole('dialog', { name: 'notes.py, line 70' })
    await file.locator('.here', { hasText: 'n = 70' }).waitFor()
    await file.locator('.here .hl-number').waitFor()
    await shot(page, 'file-at-a-line')
    await expectAccessibleInBoth(page, 'a file at a line')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'gone.py:1' }).click()
    await page.getByRole('alert').getByText('The file cannot be shown').waitFor()
    await page.keyboard.press('Escape')
    expectUnharmed(page)
  },
)

browserTest(
  '[U18] [S-42] hostile names of files, tools, forms, titles and workers are shown as text',
  async () => {
    const room = await Room.open()
    mkdirSync(join(room.folder, '<img src=x onerror=owned()>'))
    const page = await room.page()
    const nasty = '<img src=x onerror=owned()>'
    await begin(page, `write ${nasty.replaceAll(' ', '')} ${nasty}`)
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.locator('.turn-foot').waitFor()
    for (const [at, text] of [`run echo '${nasty}'`, `ask ${nasty}`].entries()) {
      await send(page, text)
      await page.getByRole('button', { name: at === 0 ? 'Allow once' : 'Decline' }).click()
      await page
        .locator('.turn-foot')
        .nth(at + 1)
        .waitFor()
    }
    // A form that was declined shows no defaults as answers.
    expect(await page.locator('.form.answered dl').count()).toBe(0)
    await send(page, `fail ${nasty}`)
    await page.locator('.turn-error').waitFor()
    await send(page, `spawn say ${nasty}`)
    await page.getByRole('navigation', { name: 'Chats of this session' }).waitFor()
    await page.getByText('The worker is done').waitFor()
    await page.getByRole('listitem').first().hover()
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Title').fill(nasty)
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: nasty }).waitFor()
    await page.getByRole('button', { name: 'New session' }).click()
    await page.getByLabel('Folder', { exact: true }).focus()
    await page.getByRole('option', { name: nasty }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expectUnharmed(page)
  },
)

browserTest(
  '[S-42] the policy of the page stops markup that a fault would let through, and the trap of these tests sees it',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    const markup =
      "document.querySelector('#page').insertAdjacentHTML('beforeend', '<img src=x onerror=owned()>')"
    expect(await page.evaluate(`(() => { try { ${markup} } catch (error) { return error.name } })()`)).toBe(
      'TypeError',
    )
    await page.evaluate(`(() => {
    const script = document.createElement('script')
    try { script.textContent = 'owned()' } catch {}
    document.body.append(script)
    const image = new Image()
    image.src = 'https://evil.example/pixel.png'
    document.body.append(image)
  })()`)
    await eventually(() => problemsOf(page).join()).toContain('policy: img-src')
    expect(
      problemsOf(page).filter((problem) => !problem.startsWith('policy:') && !problem.startsWith('request:')),
    ).toEqual([])
  },
)
