import { must } from '../../agents/failure.ts'
import { announced } from '../frame.ts'
import type { Step } from '../step.ts'
import type { Window } from '../window.ts'

/** Forms of an agent. VS Code sends typed numbers as text, and blank answers as empty text. */
export const forms: readonly Step[] = [
  {
    name: 'answer a form by typing',
    async run({ window, tap }, mark) {
      await window.chat.start('ask for a typed form')
      await fill(window, { price: '12.5', count: '3' })
      await tap.frame(announced('chat/inputCompleted'), mark)
      await window.chat.answers('You answered')
      const answer = await window.chat.answer()
      for (const text of ['Lamp', '12.5', '3', 'Yes', 'large', 'card', 'a ribbon'])
        must(answer.includes(text), `the answer lacks "${text}": ${answer}`)
    },
  },
  {
    name: 'leave optional questions of a form blank',
    async run({ window, tap }, mark) {
      await window.chat.start('ask for a blank form')
      await fill(window, { price: '', count: '' })
      await tap.frame(announced('chat/inputCompleted'), mark)
      await window.chat.ends('You answered')
    },
  },
  {
    name: 'a wrong answer shows the form again',
    async run({ window }) {
      await window.chat.start('ask for a wrong form')
      await fill(window, { price: 'twelve', count: '3' })
      await fill(window, { price: '12', count: '3' })
      await window.chat.ends('You answered')
    },
  },
  {
    name: 'skip a form',
    async run({ window, tap }, mark) {
      await window.chat.start('ask for a skipped form')
      await window.form.question('What shall it be called?')
      await window.page.locator('.chat-question-close').first().click()
      await tap.frame(announced('chat/inputCompleted'), mark)
      await window.chat.ends('You did not want to answer')
    },
  },
  {
    name: 'an open form is there again after a reload',
    async run({ window }) {
      await window.chat.start('ask for a form that stays')
      await window.form.question('What shall it be called?')
      await window.load()
      await window.list.open('ask for a form that stays')
      await fill(window, { price: '1', count: '1' })
      await window.chat.ends('You answered')
    },
  },
]

/** Fills in the form that the guide, the built-in agent, shows for `ask`. An empty text leaves a question blank. */
async function fill(
  { form }: Window,
  { price, count }: { readonly price: string; readonly count: string },
): Promise<void> {
  await form.type('What shall it be called?', 'Lamp')
  if (price === '') await form.skip('What may it cost?')
  else await form.type('What may it cost?', price)
  if (count === '') await form.skip('How many?')
  else await form.type('How many?', count)
  await form.choose('Is it a gift?', 'True')
  await form.choose('Which size?', 'Large')
  await form.choose('Anything with it?', 'A card')
  await form.add('Anything with it?', 'a ribbon')
  await form.submit()
}
