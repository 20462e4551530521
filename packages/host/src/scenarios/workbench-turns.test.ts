import { Activity } from '@atrium/protocol/status'
import { rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { askingAgent, patientAgent, readyAgent, words } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { ended, sound, stage } from '../../test/workbench-host.ts'
import { Workbench } from '../../test/workbench.ts'

describe("VS Code's workbench", () => {
  test('[W7] a turn is streamed, ends with its duration, titles its session, and is read', async () => {
    const { bench, all } = await stage(readyAgent())
    await bench.choose()
    const turn = await bench.prompt('Say hello')
    await ended(bench, turn)
    const { link, session, chat } = bench
    const said = link.envelopes.filter(({ channel, origin }) => channel === chat && !origin)
    // Text that is streamed at once arrives as one delta.
    expect(said.map(({ action }) => [action.type, (action as { content?: string }).content])).toEqual([
      ['chat/responsePart', undefined],
      ['chat/delta', words.join('')],
      ['chat/turnComplete', undefined],
    ])
    expect(link.chat(chat).turns).toMatchObject([
      {
        id: turn,
        state: 'complete',
        duration: expect.any(Number),
        message: { text: 'Say hello', model: { id: '@provider=test:mock-1' } },
        responseParts: [{ kind: 'markdown', content: words.join('') }],
      },
    ])
    await link.until(() => link.session(session).title !== '')
    bench.read()
    await bench.settled()
    const { title, lifecycle } = link.session(session)
    expect(lifecycle).toBe('ready')
    expect(await bench.list()).toMatchObject({ items: [{ resource: session, title, status: 33 }] })
    await ended(bench, bench.start('And again'))
    await sound(bench, all)
  })

  test('[W8] steers a turn and cancels it: both are echoed, and nothing of the turn comes later', async () => {
    const agent = patientAgent()
    const { bench, all } = await stage(agent)
    await bench.choose()
    const turn = await bench.prompt('Count')
    const { link, chat } = bench
    bench.read()
    const steering = bench.steer('faster')
    await link.until(() => JSON.stringify(link.chat(chat).activeTurn).includes('faster: yes'))
    const taken = link.envelopes.filter(({ action }) => action.type === 'chat/pendingMessageRemoved')
    expect(taken).toMatchObject([{ channel: chat, action: { kind: 'steering', id: steering } }])
    expect(link.chat(chat).steeringMessage).toBeUndefined()
    bench.cancel(turn, 4603)
    await bench.settled()
    expect(link.chat(chat)).toMatchObject({
      turns: [{ id: turn, state: 'cancelled', duration: 4603 }],
    })
    const before = link.envelopes.filter(({ channel }) => channel === chat).length
    agent.finish(turn)
    await untilIdle()
    expect(link.envelopes.filter(({ channel }) => channel === chat)).toHaveLength(before)
    const next = bench.start('Again')
    agent.finish(next)
    await ended(bench, next)
    await sound(bench, all)
  })

  test('[W8] is asked to approve a tool call, in the chat and in the session, and allows it', async () => {
    const { bench, all } = await stage(askingAgent())
    await bench.choose()
    const turn = await bench.prompt('List')
    const { link, session, chat } = bench
    await link.until(() => link.session(session).inputNeeded !== undefined)
    await link.until(() => link.session(session).chats[0]?.status === Activity.InputNeeded)
    const toolCallId = `${turn}#call`
    const toolCall = { toolCallId, toolName: 'shell', status: 'pending-confirmation', toolInput: 'ls' }
    expect(link.chat(chat).activeTurn?.responseParts).toMatchObject([{ kind: 'toolCall', toolCall }])
    expect(link.session(session).inputNeeded).toMatchObject([
      { kind: 'toolConfirmation', chat, turnId: turn, toolCall },
    ])
    bench.allow(turn, toolCallId)
    await ended(bench, turn)
    expect(link.chat(chat).turns[0]?.responseParts[0]).toMatchObject({
      toolCall: { toolCallId, status: 'completed', success: true, confirmed: 'user-action' },
    })
    await link.until(() => link.session(session).chats[0]?.status === Activity.Idle)
    expect(link.session(session).inputNeeded).toBeUndefined()
    await sound(bench, all)
  })

  test('[W9] provides its tools sixteen times: each is echoed, and others get the changes', async () => {
    const { bench, all, watcher } = await stage(readyAgent())
    await bench.choose()
    await ended(bench, await bench.prompt('Say hello'))
    await watcher.ask('subscribe', { channel: bench.session })
    for (const tools of [2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5]) bench.registerTools(tools)
    bench.read()
    await bench.settled()
    await watcher.until(() => watcher.envelopes.some(({ action }) => action.type === 'session/isReadChanged'))
    const isClientSet = ({ action }: { action: { type: string } }) =>
      action.type === 'session/activeClientSet'
    expect(bench.link.envelopes.filter(isClientSet)).toHaveLength(16)
    expect(watcher.envelopes.filter(isClientSet)).toHaveLength(3)
    await sound(bench, all)
  })

  test('[W10] reconnects without naming a channel, and gets what it missed', async () => {
    const { bench, all, watcher } = await stage(readyAgent())
    await bench.choose()
    const abandoned = bench.session
    await ended(bench, await bench.prompt('Say hello'))
    await bench.settled()
    const { session, chat } = bench
    bench.link.transport.close()
    await watcher.ask('subscribe', { channel: session })
    await watcher.echo(watcher.dispatch(session, { type: 'session/titleChanged', title: 'Meanwhile' }))
    // The workbench never unsubscribed from the session `abandoned`, which it disposed of. So it names that session, too.
    const result = await bench.comeBack(all.wire()[1], [rootUri, abandoned, session, chat])
    expect(bench.link.session(session).title).toBe('Meanwhile')
    expect(bench.link.followed.has(abandoned)).toBe(false)
    expect(result).toMatchObject({ type: 'replay', missing: [abandoned] })
    await bench.settled()
    await ended(bench, bench.start('And again'))
    await sound(bench, all)
  })

  test('[W10] initializes on the same link where the host does not know it, and opens its session again', async () => {
    const { bench, all } = await stage(readyAgent())
    await bench.choose()
    await ended(bench, await bench.prompt('Say hello'))
    const stranger = new Workbench(all.wire()[1], { clientId: 'window-2' })
    await stranger.comeBack(all.wire()[1], [rootUri, bench.session])
    expect(stranger.link.errors).toMatchObject([{ asked: { method: 'reconnect' }, code: -32008 }])
    expect([...stranger.link.followed.keys()]).toEqual([rootUri])
    const { items } = (await stranger.list()) as { items: { resource: string }[] }
    await stranger.reopen(items[0]?.resource ?? '')
    await stranger.settled()
    expect(stranger.link.chat(stranger.chat)).toMatchObject({ turns: [{ state: 'complete' }] })
    await sound(stranger, all)
  })

  test('[W10] reconnects to a host that was killed during a turn: the turn has ended, and the next one works', async () => {
    const agent = patientAgent()
    const { bench, all } = await stage(agent)
    await bench.choose()
    const turn = await bench.prompt('Count')
    const { session, chat, link } = bench
    await link.until(() => link.envelopes.some(({ action }) => action.type === 'chat/delta'))
    await bench.settled()
    link.transport.close()
    await all.restart('crash')
    await bench.comeBack(all.wire()[1], [rootUri, session, chat])
    await bench.link.until(() => bench.link.chat(chat).activeTurn === undefined)
    expect(bench.link.chat(chat).turns).toMatchObject([{ id: turn, duration: expect.any(Number) }])
    const next = bench.start('Again')
    agent.finish(next)
    await ended(bench, next)
    await sound(bench, all)
  })
})
