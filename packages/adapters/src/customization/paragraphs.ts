import type { Customized, Rule, Skill } from '@atrium/host/ports/customized'
import { pathOf } from '@atrium/protocol/file-uri'

/**
 * How the skills are listed for an agent: a sentence that tells how to get the text of a skill, and a row for each
 * skill.
 */
export interface SkillAccess {
  readonly introduction: string
  row(skill: Skill): string
}

/** The list for an agent that has the tool `skill`, which returns the text of a skill. */
export const bySkillTool: SkillAccess = {
  introduction: 'Skills, whose instructions the tool skill gives. Read one before a task that it is about:',
  row: ({ name, description }) => `- ${name}: ${description}`,
}

/**
 * The list for an agent that reads files itself. If a skill is not a file of this machine, its row contains its whole
 * text.
 */
export const byFile: SkillAccess = {
  introduction: 'Skills. Read the file of one before a task that it is about:',
  row: ({ name, description, uri, text }) => {
    const named = pathOf(uri)
    return named.ok ? `- ${name} (${named.path}): ${description}` : `- ${name}: ${description}\n\n${text}\n`
  },
}

/** Returns the paragraphs that the customizations of a session add to the instructions of an agent. */
export function customParagraphs(
  { agent, rules, skills, context }: Customized,
  { introduction, row }: SkillAccess,
): readonly string[] {
  return [
    ...(agent ? [`You work as the agent ${agent.name}:\n\n${agent.text}`] : []),
    ...rules.map(ruleParagraph),
    ...(skills.length > 0 ? [[introduction, ...skills.map(row)].join('\n')] : []),
    ...context,
  ]
}

function ruleParagraph({ name, text, globs }: Rule): string {
  const about = globs ? ` for files that match ${globs.join(', ')}` : ''
  return `Rule "${name}"${about}:\n\n${text}`
}

/**
 * Returns the text of a skill for a model. The text names the skill's file, because other files of the skill are in the same
 * folder.
 */
export function skillText({ uri, text }: Skill): string {
  const named = pathOf(uri)
  return named.ok ? `(from ${named.path})\n\n${text}` : text
}
