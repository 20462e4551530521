import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lobby, lobbyLimits } from './pending-upgrades.ts'
import type { Lobby } from './pending-upgrades.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A lobby that so many have entered. */
function crowd(count: number) {
  const waiting = lobby(lobbyLimits)
  const sockets = Array.from({ length: count }, () => enter(waiting))
  return { waiting, sockets }
}

function enter(waiting: Lobby): Socket {
  const socket = new Socket()
  waiting.enter(socket, socket)
  return socket
}

test('[S-57 lobbySockets] at 256: all may wait', () => {
  const { waiting, sockets } = crowd(256)
  vi.advanceTimersByTime(2000)
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  expect(waiting.size).toBe(256)
})

test('[S-57 lobbySockets] past 256: the oldest is shown out for each that comes', () => {
  const { waiting, sockets } = crowd(256)
  vi.advanceTimersByTime(2000)
  for (let n = 0; n < 44; n++) enter(waiting)
  expect(sockets.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBe(43)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(44)
  expect(waiting.size).toBe(256)
})

test('[S-57 lobbyMomentMs] at 1,000: it had its moment, and goes for another', () => {
  const { waiting, sockets } = crowd(256)
  vi.advanceTimersByTime(1000)
  enter(waiting)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1)
})

test('[S-57 lobbyMomentMs] past 1,000 nobody can have been: before, all who come at once are heard (F-21)', () => {
  const { waiting, sockets } = crowd(256)
  vi.advanceTimersByTime(999)
  for (let n = 0; n < 1000; n++) enter(waiting)
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  expect(waiting.size).toBe(1256)
})

test('[S-57 lobbyCrowd] at 8,192: all may wait for a moment', () => {
  expect(crowd(8192).sockets.some(({ destroyed }) => destroyed)).toBe(false)
})

test('[S-57 lobbyCrowd] past 8,192: the oldest goes at once', () => {
  const { waiting, sockets } = crowd(8193)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1)
  expect([sockets[0]?.destroyed, waiting.size]).toEqual([true, 8192])
})

test('[S-57 upgradeMs] at 5,000: one may take so long', () => {
  const { waiting, sockets } = crowd(1)
  vi.advanceTimersByTime(4999)
  expect(sockets[0]?.destroyed).toBe(false)
  waiting.leave(sockets[0] as Socket)
  vi.advanceTimersByTime(5000)
  expect(sockets[0]?.destroyed).toBe(false)
  expect(waiting.size).toBe(0)
})

test('[S-57 upgradeMs] past 5,000: it is destroyed', () => {
  const { sockets } = crowd(2)
  vi.advanceTimersByTime(5000)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true])
})
