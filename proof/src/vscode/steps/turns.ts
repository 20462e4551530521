import { must } from '../../agents/failure.ts'
import { announced, dispatched } from '../frame.ts'
import type { Step } from '../step.ts'

/** What a user does while a turn runs, and what a message can carry. */
export const turns: readonly Step[] = [
  {
    name: 'stop a turn',
    async run({ window, tap }, mark) {
      await window.chat.start('slow 300')
      await window.chat.answers('atrium')
      await window.chat.stop()
      await tap.frame(announced('chat/turnCancelled'), mark)
      await window.chat.idle()
      await window.chat.ask('say after the stop', 'after the stop')
    },
  },
  {
    name: 'queue a message',
    async run({ window, tap }, mark) {
      await window.chat.start('slow 15')
      await window.chat.answers('atrium')
      await window.chat.type('say it was queued')
      await window.chat.sendBy('Add to Queue')
      await tap.frame(
        announced('chat/pendingMessageSet', ({ kind }) => kind === 'queued'),
        mark,
      )
      await window.chat.ends('it was queued')
    },
  },
  {
    name: 'steer a turn',
    async run({ window, tap }, mark) {
      await window.chat.start('slow 15')
      await window.chat.answers('atrium')
      await window.chat.send('say it was steered')
      await tap.frame(
        announced('chat/pendingMessageSet', ({ kind }) => kind === 'steering'),
        mark,
      )
      await window.chat.ends('it was steered')
    },
  },
  {
    name: 'stop and send',
    async run({ window, tap }, mark) {
      await window.chat.start('slow 300')
      await window.chat.answers('atrium')
      await window.chat.type('say sent instead')
      await window.chat.sendBy('Stop and Send')
      await tap.frame(announced('chat/turnCancelled'), mark)
      await window.chat.ends('sent instead')
    },
  },
  {
    name: 'run a command with an exclamation mark',
    async run({ window }) {
      await window.chat.turn('!expr 222 + 555', '777')
    },
  },
  {
    name: 'choose a model',
    async run({ window, tap }) {
      await window.chat.fresh()
      for (const [name, id] of [
        ['Guide, plain', 'guide-plain'],
        ['Guide, lively', 'guide-lively'],
      ] as const) {
        const mark = tap.mark
        await window.chat.chooseModel(name)
        await window.chat.ask(`say with ${id}`, `with ${id}`)
        const { message } = await tap.frame(dispatched('chat/turnStarted'), mark)
        const text = JSON.stringify(message?.params?.action?.['message'])
        must(text.includes(`"id":"${id}"`), `the message names another model: ${text}`)
      }
      await window.chat.answers('Guide, lively')
    },
  },
  {
    name: 'a failed turn shows its error and can be resumed',
    async run({ window }) {
      await window.chat.turn('fail because of rain', 'because of rain')
      await window.chat.resume()
      await window.chat.ends('I was resumed')
    },
  },
  {
    name: 'a plan shows its steps',
    async run({ window }) {
      await window.chat.turn('plan a house', 'Ask for help')
    },
  },
  {
    name: 'a worker is shown with its call',
    async run({ window }) {
      await window.chat.turn('spawn say hello from a worker', 'The worker is done')
      await window.chat.unfold()
      await window.page.locator('.chat-subagent-part').first().waitFor()
    },
  },
]
