import { must } from '../../agents/failure.ts'
import { announced, called } from '../frame.ts'
import type { Stage } from '../stage.ts'
import type { Step } from '../step.ts'
import { until } from '../wait.ts'

/** What the input of a chat offers, and what a message carries besides its text. */
export const input: readonly Step[] = [
  {
    name: 'a hash sign offers files',
    async run(stage) {
      await suggests(stage, '#', 'note.txt')
    },
  },
  {
    name: 'a slash offers the commands of the agent',
    async run(stage) {
      await suggests(stage, '/', 'spawn')
    },
  },
  {
    name: 'a chosen command of the agent is sent',
    async run({ window }) {
      await window.chat.turn('say before the command', 'before the command')
      await window.chat.type('/pla')
      await until(
        async () => (await window.chat.suggestions())[0]?.includes('plan') === true,
        'the first suggestion, which Enter takes, is plan',
      )
      await window.page.keyboard.press('Enter')
      await window.page.keyboard.press('Enter')
      await window.chat.ends('Ask for help')
    },
  },
  {
    name: 'attach a file',
    async run({ window, tap }) {
      await window.chat.fresh()
      const mark = tap.mark
      await window.chat.attach('Files & Folders...', 'note.txt')
      await window.chat.ask('say with a file', 'with a file')
      const text = JSON.stringify((await tap.frame(announced('chat/turnStarted'), mark)).message)
      must(
        text.includes('/note.txt"') && text.includes('"attachments"'),
        `no attachment in ${text.slice(0, 600)}`,
      )
    },
  },
  {
    name: 'paste an image',
    async run({ window, tap }) {
      await window.chat.fresh()
      const mark = tap.mark
      await window.chat.input().click()
      await window.page.evaluate(copyImage)
      await window.page.keyboard.press('Control+V')
      await window.page.locator('.chat-attached-context-attachment').first().waitFor()
      await window.chat.ask('say with a picture', 'with a picture')
      const text = JSON.stringify((await tap.frame(announced('chat/turnStarted'), mark)).message)
      must(text.includes('image/png'), `no image in ${text.slice(0, 600)}`)
    },
  },
  {
    name: 'change a setting of the session',
    async run({ window, tap }) {
      await window.chat.turn('say with a setting', 'with a setting')
      const mark = tap.mark
      await window.pick(window.page.locator('.interactive-input-part [aria-label^="Tone"]').first(), 'Brief')
      await tap.frame(announced('session/configChanged'), mark)
      await window.chat.send('hello')
      await until(async () => (await window.chat.answer()).includes('You asked: hello'), 'an answer comes')
      must(!(await window.chat.answer()).includes('I am the guide'), 'the answer is not brief')
    },
  },
]

/** Types a trigger in a session, and waits until the suggestions have the text. */
async function suggests({ window, tap }: Stage, trigger: string, wanted: string): Promise<void> {
  await window.chat.turn(`say before the trigger ${trigger === '#' ? 'hash' : 'slash'}`, 'before the trigger')
  const mark = tap.mark
  await window.chat.type(trigger)
  await tap.frame(called('completions'), mark)
  let seen: readonly string[] = []
  await until(
    async () => (seen = await window.chat.suggestions()).some((each) => each.includes(wanted)),
    () => `the suggestions have ${wanted}; they are: ${seen.join(' | ')}`,
  )
}

/** Copies a small picture to the clipboard of the page. */
const copyImage = `(async () => {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 16
  canvas.getContext('2d').fillRect(4, 4, 8, 8)
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
})()`
