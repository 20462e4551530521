import { choices } from '@atrium/host/access/choices'
import { expect, test } from 'vitest'
import { callsIn, modelRoom, no, textOf, yes } from '../../test/model-room.ts'
import { inputProblem, inputText, tools } from './tools.ts'

const texts = { 'a.txt': 'one\ntwo\nthree', 'src/b.ts': 'const door = 1', '.env': 'KEY=1' }

test.each([
  ['read {"path":"a.txt"}', 'one\ntwo\nthree', 'Read `a.txt`'],
  ['read {"path":"a.txt","from":2,"lines":1}', 'two', 'Read `a.txt`'],
  ['list {}', '.env\na.txt\nsrc/', 'Listed `.`'],
  ['search {"text":"DOOR","ignoreCase":true}', 'src/b.ts:1: const door = 1', 'Searched for `DOOR`'],
  ['search {"text":"nowhere"}', '(nothing)', 'Searched for `nowhere`'],
  [
    'search {"pattern":"^t[hw]","text":"","glob":"*.txt"}',
    'a.txt:2: two\na.txt:3: three',
    'Searched for the pattern `^t[hw]`',
  ],
])('[N22] %s: runs without approval, and the model gets the result', async (call, result, past) => {
  const { turn, sent } = await modelRoom(texts)
  const done = await turn(`call ${call} ; say seen`)
  expect(callsIn(done)).toMatchObject([
    { status: 'completed', confirmed: 'not-needed', success: true, pastTenseMessage: { markdown: past } },
  ])
  expect(sent().at(-1)).toEqual({ role: 'tool', text: result })
  expect(textOf(done)).toBe('seen')
})

test('[H32.3] [H32] comments: the model comments on lines, lists comments, answers and resolves, without approval', async () => {
  const { turn, sent } = await modelRoom(texts)
  const made = await turn('call comment {"path":"a.txt","line":2,"lastLine":3,"text":"Odd."} ; say seen')
  expect(callsIn(made)).toMatchObject([{ status: 'completed', confirmed: 'not-needed', success: true }])
  const [, id = ''] = /has the id (\S+)\.$/.exec(sent().at(-1)?.text ?? '') ?? []
  await turn(
    `call reply {"id":"${id}","text":"Right.","resolve":true} ; call comments {"path":"a.txt"} ; say seen`,
  )
  expect(sent().at(-1)).toEqual({ role: 'tool', text: '(none)' })
  await turn('call comments {"all":true} ; say seen')
  const listed = sent().at(-1)?.text
  expect(listed).toContain(`Comment ${id} on /`)
  expect(listed).toContain('a.txt, lines 2 to 3 (resolved):\n  1 | one\n> 2 | two\n> 3 | three')
  expect(listed).toMatch(/: Odd\.\n.+: Right\.$/)
})

test('[N22.1] [N22] reading a protected file needs approval', async () => {
  const { begin, ended, pending, answer, sent } = await modelRoom(texts)
  const turnId = await begin('call read {"path":".env"} & call read {"path":"a.txt"} ; say seen')
  expect(await pending()).toMatchObject({ toolName: 'read', toolInput: '{"path":".env"}' })
  await answer(0, yes)
  expect(callsIn(await ended(turnId)).map(({ status }) => status)).toEqual(['completed', 'completed'])
  expect(sent().slice(-2)).toEqual([
    { role: 'tool', text: 'KEY=1' },
    { role: 'tool', text: 'one\ntwo\nthree' },
  ])
})

test('[N22.1] the only call of a response waits for the approval of its protected file', async () => {
  const { begin, ended, pending, answer, sent } = await modelRoom(texts)
  const turnId = await begin('call read {"path":".env"} ; say seen')
  await pending()
  await answer(0, yes)
  expect(callsIn(await ended(turnId))).toMatchObject([{ status: 'completed', success: true }])
  expect(sent().at(-1)).toEqual({ role: 'tool', text: 'KEY=1' })
})

test.each([
  ['edit {"path":"a.txt","find":"two","put":"2"}', 'a.txt', 'one\n2\nthree', { added: 1, removed: 1 }],
  ['write {"path":"new/c.txt","text":"c"}', 'new/c.txt', 'c', { added: 1 }],
])('[N23] %s: shows its changes and applies them after approval', async (call, path, after, diff) => {
  const { begin, ended, pending, answer, text } = await modelRoom(texts)
  const turnId = await begin(`call ${call} ; say done`)
  const pendingCall = await pending()
  expect(pendingCall).toMatchObject({ edits: { items: [{ diff }] } })
  if (path === 'a.txt') expect(text(path)).toBe(texts[path])
  else expect(() => text(path)).toThrow()
  await answer(0, yes)
  const turn = await ended(turnId)
  expect(callsIn(turn)).toMatchObject([
    { status: 'completed', success: true, content: [{ type: 'fileEdit', diff }, { type: 'text' }] },
  ])
  expect([text(path), textOf(turn)]).toEqual([after, 'done'])
})

test('[N23] a command runs as the user edited it, and the model sees the edited command', async () => {
  const { begin, ended, pending, answer, terminals, sent, provider } = await modelRoom()
  const turnId = await begin('call run {"command":"make all"} ; say done')
  expect(await pending()).toMatchObject({ toolInput: 'make all', editable: true })
  await answer(0, { ...yes, editedToolInput: 'make some' })
  expect(callsIn(await ended(turnId))).toMatchObject([{ success: true, toolInput: 'make some' }])
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['make some'])
  expect(sent().at(-1)).toMatchObject({ role: 'tool', text: expect.stringContaining('ran make some') })
  expect(JSON.stringify(provider.model.doStreamCalls.at(-1)?.prompt)).toContain('{"command":"make some"}')
})

test.each([
  ['edit {"path":"a.txt","find":"two","put":"2"}'],
  ['write {"path":"a.txt","text":"c"}'],
  ['run {"command":"rm a.txt"}'],
  ['read {"path":".env"}'],
])(
  '[N23.2] [N23] %s: a denied call is not run, and the model gets the reason and continues',
  async (call) => {
    const { begin, ended, pending, answer, text, sent, terminals } = await modelRoom(texts)
    const turnId = await begin(`call ${call} ; say well then`)
    await pending()
    const userSuggestion = { text: 'leave it', origin: { kind: 'user' } }
    await answer(0, { ...no, reasonMessage: 'not today', userSuggestion })
    const turn = await ended(turnId)
    expect([turn.state, textOf(turn), text('a.txt')]).toEqual(['complete', 'well then', texts['a.txt']])
    expect(terminals.shells).toEqual([])
    const result = sent().at(-1)?.text
    for (const words of ['did not allow', 'not today', 'leave it']) expect(result).toContain(words)
  },
)

test('[N23.3] [N23] an invalid call fails without asking for approval, and the model gets the error', async () => {
  const { turn, sent } = await modelRoom(texts)
  const done = await turn(
    'call edit {"path":"a.txt","find":"four","put":"4"} & call edit {"path":1} & call fly {} & call run {} & call write [] & call search {"pattern":"(a"} & call search {"pattern":1} & call search {} ; say so',
  )
  expect(textOf(done)).toBe('so')
  expect(callsIn(done).map((call) => 'success' in call && call.success)).toEqual(Array(8).fill(false))
  expect(
    sent()
      .filter(({ role }) => role === 'tool')
      .map(({ text }) => text),
  ).toEqual([
    'Failed: the file does not contain that text',
    'Failed: path must be a string',
    'Failed: there is no tool `fly`',
    'Failed: command is missing',
    'Failed: the input is not an object',
    'Failed: the pattern is not valid: the "(" at character 1 is not closed',
    'Failed: pattern must be a string',
    'Failed: a search needs either a text or a pattern',
  ])
})

test('[N23.1] [N23] the calls of one response ask for approval together, and run in their order', async () => {
  const { ann, begin, ended, pending, answer, terminals } = await modelRoom(texts)
  const turnId = await begin(
    'call run {"command":"a"} & call run {"command":"b"} & call read {"path":"a.txt"} ; say so',
  )
  await pending(0)
  await pending(1)
  // The call that needs no approval finished before the other calls asked.
  const types = ann.envelopes.map(({ action }) => action.type)
  const done = types.indexOf('chat/toolCallComplete')
  expect(done).toBeGreaterThan(0)
  expect(types.slice(done).filter((type) => type === 'chat/toolCallReady')).toHaveLength(2)
  await answer(1, yes)
  await answer(0, yes)
  expect(callsIn(await ended(turnId)).map(({ status }) => status)).toEqual(Array(3).fill('completed'))
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['a', 'b'])
})

test('[N23] a tool that was approved for the session does not ask again', async () => {
  const { begin, ended, turn, pending, answer, terminals } = await modelRoom()
  const first = await begin('call run {"command":"a"} ; say so')
  await pending()
  await answer(0, { ...yes, selectedOptionId: choices.session })
  await ended(first)
  expect(callsIn(await turn('call run {"command":"b"} ; say so'))).toMatchObject([{ confirmed: 'setting' }])
  expect(terminals.shells).toHaveLength(2)
})

test('[N23.4] [N23] the input of a call is streamed before the call is ready', async () => {
  const { turn, ann } = await modelRoom(texts)
  await turn('call read {"path":"a.txt","from":1,"lines":1000} ; say so')
  const actions = ann.envelopes.map(
    ({ action }) => action as { readonly type: string; readonly content?: string },
  )
  const pieces = actions.filter(({ type }) => type === 'chat/toolCallDelta').map(({ content }) => content)
  expect(pieces.join('')).toBe('{"path":"a.txt","from":1,"lines":1000}')
})

test('[N24.1] [N24] ask: the model gets the answer, also after a restart of the host', async () => {
  const { host, begin, until, again, sent } = await modelRoom()
  const turnId = await begin('call ask {"question":"Which?","options":["red","blue"]} ; say thanks')
  await until(({ activeTurn }) => activeTurn?.responseParts.at(-1)?.kind === 'inputRequest')
  await host.restart('crash')
  const ben = await again()
  const form = ben.state().activeTurn?.responseParts.at(-1)
  expect(form).toMatchObject({ request: { questions: [{ kind: 'single-select', message: 'Which?' }] } })
  const requestId = form?.kind === 'inputRequest' ? form.request.id : ''
  const answers = { answer: { state: 'submitted', value: { kind: 'selected', value: '2' } } }
  await ben.dispatch({ type: 'chat/inputCompleted', requestId, response: 'accept', answers })
  expect(textOf(await ben.ended(turnId))).toBe('thanks')
  expect(sent().at(-1)).toEqual({ role: 'tool', text: 'blue' })
})

test('[N24] ask: the user may decline to answer', async () => {
  const { begin, ended, until, state, dispatch, sent } = await modelRoom()
  const turnId = await begin('call ask {"question":"Why?"} ; say never mind')
  await until(({ activeTurn }) => activeTurn?.responseParts.at(-1)?.kind === 'inputRequest')
  const form = state().activeTurn?.responseParts.at(-1)
  const requestId = form?.kind === 'inputRequest' ? form.request.id : ''
  await dispatch({ type: 'chat/inputCompleted', requestId, response: 'decline' })
  expect(textOf(await ended(turnId))).toBe('never mind')
  expect(sent().at(-1)?.text).toBe('The user does not want to answer this.')
})

test('[N24.2] [N24] spawn: a worker runs in its own chat with the same model and without spawn; its answer is the result', async () => {
  const { turn, sent, provider } = await modelRoom(texts)
  const done = await turn('call spawn {"title":"Look","task":"say it is one"} ; say so')
  expect(callsIn(done)).toMatchObject([
    { success: true, content: [{ type: 'subagent' }, { text: 'it is one' }] },
  ])
  expect(sent().at(-1)).toEqual({ role: 'tool', text: 'it is one' })
  const offered = provider.model.doStreamCalls.map(({ tools: available = [] }) =>
    available.some(({ name }) => name === 'spawn'),
  )
  expect(offered).toEqual([true, false, true])
  expect(callsIn(await turn('call spawn {"title":"Fail","task":"fail 400"} ; say so'))).toMatchObject([
    { success: false, error: { message: expect.stringContaining('refused the request (400)') } },
  ])
})

test('[N23] every tool checks its input', () => {
  for (const tool of Object.values(tools)) {
    expect(inputProblem(tool, undefined)).toBe('the input is not an object')
    expect(tool.invocationMessage({})).toMatch(/`/)
  }
  expect(inputProblem(tools.ask, { question: 'x', options: [1] })).toBe('options must be a list of strings')
  expect(inputText(tools.run, { command: 'ls' })).toBe('ls')
})
