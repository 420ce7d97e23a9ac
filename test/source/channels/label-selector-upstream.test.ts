// SPDX-License-Identifier: Apache-2.0
/**
 * The cases of upstream's own tests of `labels.Parse`, as data: pkg/labels/selector_test.go of
 * k8s.io/apimachinery v0.36 (Kubernetes 1.36, and the same in 1.35). Up to 1.34, a set of values
 * that ends with an even number of commas, as in `x in (a,,)`, was refused.
 *
 * Cases that only the API of Go can express, such as a set without values, have no text.
 */
import t from 'tap'
import { type Labels, matchesLabels, parseLabelSelector, type Requirement } from '../../../src/source/channels/label-selector.ts'

const has = (key: string): Requirement => ({ key, operator: 'exists' })
const lacks = (key: string): Requirement => ({ key, operator: 'not-exists' })
const isIn = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: 'in', values })
const isNotIn = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: 'not-in', values })
const above = (key: string, bound: bigint): Requirement => ({ key, operator: 'greater', bound })
const below = (key: string, bound: bigint): Requirement => ({ key, operator: 'less', bound })

type Meaning = 'refused' | readonly Requirement[]
const MEANINGS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  TestSelectorParse: {
    'x=a,y=b,z=c': [isIn('x', 'a'), isIn('y', 'b'), isIn('z', 'c')],
    '': [],
    'x!=a,y=b': [isNotIn('x', 'a'), isIn('y', 'b')],
    'x=': [isIn('x', '')],
    'x= ': [isIn('x', '')],
    'x=,z= ': [isIn('x', ''), isIn('z', '')],
    'x= ,z= ': [isIn('x', ''), isIn('z', '')],
    '!x': [lacks('x')],
    'x>1': [above('x', 1n)],
    'x>1,z<5': [above('x', 1n), below('z', 5n)],
    'x=a||y=b': 'refused',
    'x==a==b': 'refused',
    '!x=a': 'refused',
    'x<a': 'refused',
  },
  TestDeterministicParse: {
    'x=a,a=x': [isIn('x', 'a'), isIn('a', 'x')],
    'a=x,x=a': [isIn('a', 'x'), isIn('x', 'a')],
  },
  /** Each token alone. */
  TestLexer: {
    '': [],
    ',': 'refused',
    notin: [has('notin')],
    in: [has('in')],
    '=': 'refused',
    '==': 'refused',
    '>': 'refused',
    '<': 'refused',
    '!': 'refused',
    '!=': 'refused',
    '(': 'refused',
    ')': 'refused',
    '~': 'refused',
    '||': 'refused',
  },
  /** The texts of TestParserLookahead are the same. */
  TestLexerSequence: {
    'key in ( value )': [isIn('key', 'value')],
    'key notin ( value )': [isNotIn('key', 'value')],
    'key in ( value1, value2 )': [isIn('key', 'value1', 'value2')],
    key: [has('key')],
    '!key': [lacks('key')],
    '()': 'refused',
    'x in (),y': [isIn('x', ''), has('y')],
    '== != (), = notin': 'refused',
    'key>2': [above('key', 2n)],
    'key<1': [below('key', 1n)],
  },
  /** Between a key and a value. */
  TestParseOperator: {
    'x in (1)': [isIn('x', '1')],
    'x = 1': [isIn('x', '1')],
    'x == 1': [isIn('x', '1')],
    'x > 1': [above('x', 1n)],
    'x < 1': [below('x', 1n)],
    'x notin (1)': [isNotIn('x', '1')],
    'x != 1': [isNotIn('x', '1')],
    'x ! 1': 'refused',
    'x exists 1': 'refused',
    'x exists': 'refused',
    'x ( 1': 'refused',
  },
  TestRequirementConstructor: {
    'x3 in (foo)': [isIn('x3', 'foo')],
    'x4 notin (foo)': [isNotIn('x4', 'foo')],
    x6: [has('x6')],
    '!x7': [lacks('x7')],
    'x8 (foo)': 'refused',
    'x11>1': [above('x11', 1n)],
    'x12<6': [below('x12', 6n)],
    'x13>': 'refused',
    'x14>bar': 'refused',
    'x15<bar': 'refused',
    [`${'a'.repeat(254)}`]: 'refused',
    [`x16=${'a'.repeat(254)}`]: 'refused',
    'x17=a b': 'refused',
    'x18 unsupportedOp (a)': 'refused',
  },
  /** The texts that upstream writes, it reads. */
  TestToString: {
    'x in (abc,def),y notin (jkl),z': [isIn('x', 'abc', 'def'), isNotIn('y', 'jkl'), has('z')],
    'x notin (abc,def),y!=jkl,!z': [isNotIn('x', 'abc', 'def'), isNotIn('y', 'jkl'), lacks('z')],
    'x in (abc,def),': 'refused',
    'x notin (abc),y in (jkl,mno),z notin ()': [isNotIn('x', 'abc'), isIn('y', 'jkl', 'mno'), isNotIn('z', '')],
    'x=abc,y==jkl,z!=a,z': [isIn('x', 'abc'), isIn('y', 'jkl'), isNotIn('z', 'a'), has('z')],
    'x>2,y<8,z': [above('x', 2n), below('y', 8n), has('z')],
  },
  TestSetSelectorParser: {
    '\rx': [has('x')],
    'this-is-a-dns.domain.com/key-with-dash': [has('this-is-a-dns.domain.com/key-with-dash')],
    'this-is-another-dns.domain.com/key-with-dash in (so,what)': [isIn('this-is-another-dns.domain.com/key-with-dash', 'so', 'what')],
    '0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)': [isNotIn('0.1.2.domain/99', '10.10.100.1', 'tick.tack.clock')],
    'foo  in\t (abc)': [isIn('foo', 'abc')],
    'x notin\n (abc)': [isNotIn('x', 'abc')],
    'x  notin\t\t\t(abc,def)': [isNotIn('x', 'abc', 'def')],
    'x in (abc,def)': [isIn('x', 'abc', 'def')],
    'x in (abc,)': [isIn('x', 'abc', '')],
    'x in (abc,abc)': [isIn('x', 'abc')],
    'x in ()': [isIn('x', '')],
    'x in (a,,)': [isIn('x', 'a', '')],
    'x in (a,,,)': [isIn('x', 'a', '')],
    'x in (a,,,,,,)': [isIn('x', 'a', '')],
    'x in (a,,a,,a,,a,,)': [isIn('x', 'a', '')],
    'x notin (abc,,def),bar,z in (),w': [isNotIn('x', 'abc', '', 'def'), has('bar'), isIn('z', ''), has('w')],
    'x,y in (a)': [has('x'), isIn('y', 'a')],
    'x=a': [isIn('x', 'a')],
    'x>1': [above('x', 1n)],
    'x<7': [below('x', 7n)],
    'x=a,y!=b': [isIn('x', 'a'), isNotIn('y', 'b')],
    'x=a,y!=b,z in (h,i,j)': [isIn('x', 'a'), isNotIn('y', 'b'), isIn('z', 'h', 'i', 'j')],
    'x=a||y=b': 'refused',
    'x,,y': 'refused',
    ',x,y': 'refused',
    'x nott in (y)': 'refused',
    'x notin ( )': [isNotIn('x', '')],
    'x notin (, a)': [isNotIn('x', '', 'a')],
    'a in (xyz),': 'refused',
    'a in (xyz)b notin ()': 'refused',
    'a ': [has('a')],
    'a in (x,y,notin, z,in)': [isIn('a', 'x', 'y', 'notin', 'z', 'in')],
    'a in (xyz abc)': 'refused',
    'a notin(': 'refused',
    'a (': 'refused',
    '(': 'refused',
  },
  /** Found by comparing with upstream's parser. */
  'sets of empty values': {
    'a notin ()': [isNotIn('a', '')],
    'a in (,)': [isIn('a', '')],
    'a in (,,)': [isIn('a', '')],
    'a in (x,,)': [isIn('a', 'x', '')],
    'a in (,,x)': [isIn('a', '', 'x')],
  },
}

const FOO_BAZ: Labels = { foo: 'bar', baz: 'blah' }
/** Text, labels and whether they match. */
const MATCHES: Readonly<Record<string, readonly (readonly [string, Labels, boolean])[]>> = {
  TestSelectorMatches: [
    ['', { x: 'y' }, true],
    ['x=y', { x: 'y' }, true],
    ['x=y,z=w', { x: 'y', z: 'w' }, true],
    ['x!=y,z!=w', { x: 'z', z: 'a' }, true],
    ['notin=in', { notin: 'in' }, true],
    ['x', { x: 'z' }, true],
    ['!x', { y: 'z' }, true],
    ['x>1', { x: '2' }, true],
    ['x<1', { x: '0' }, true],
    ['x=z', {}, false],
    ['x=y', { x: 'z' }, false],
    ['x=y,z=w', { x: 'w', z: 'w' }, false],
    ['x!=y,z!=w', { x: 'z', z: 'w' }, false],
    ['x', { y: 'z' }, false],
    ['!x', { x: 'z' }, false],
    ['x>1', { x: '0' }, false],
    ['x<1', { x: '2' }, false],
    ['foo=bar', FOO_BAZ, true],
    ['baz=blah', FOO_BAZ, true],
    ['foo=bar,baz=blah', FOO_BAZ, true],
    ['foo=blah', FOO_BAZ, false],
    ['baz=bar', FOO_BAZ, false],
    ['foo=bar,foobar=bar,baz=blah', FOO_BAZ, false],
  ],
  TestSetMatches: [
    ['', FOO_BAZ, true],
    ['foo=bar', FOO_BAZ, true],
    ['baz=blah', FOO_BAZ, true],
    ['baz=blah,foo=bar', FOO_BAZ, true],
  ],
  TestRequirementSelectorMatching: [
    ['x in (foo),y notin (alpha)', { x: 'foo', y: 'baz' }, true],
    ['x in (foo),y in (alpha)', { x: 'foo', y: 'baz' }, false],
    ['x notin (),y', { y: '' }, true],
    ['!x,y', { y: '' }, true],
    ['x notin (),!y', { y: '' }, false],
    ['x in ()', { y: 'baz' }, false],
    ['z>1', { z: '2' }, true],
    ['z>1', { z: 'v2' }, false],
  ],
  /** A Node in a manifest may have a label that an API server would refuse. */
  'a label value with a sign, as strconv.ParseInt reads it': [
    ['x<1', { x: '-1' }, true],
    ['x>1', { x: '+2' }, true],
    ['x<1', { x: '-9223372036854775808' }, true],
    ['x<1', { x: '-9223372036854775809' }, false],
    ['x>1', { x: '9223372036854775808' }, false],
  ],
}

/** A set has no order, and names each value once. */
function normalize(requirement: Requirement) {
  return 'values' in requirement ? { ...requirement, values: [...requirement.values].sort() } : requirement
}

for (const [name, cases] of Object.entries(MEANINGS)) {
  t.test(name, async (t) => {
    for (const [text, meaning] of Object.entries(cases)) {
      const reading = parseLabelSelector(text)
      t.same(reading.ok ? reading.selector.map(normalize) : 'refused', meaning === 'refused' ? meaning : meaning.map(normalize), text)
    }
  })
}

for (const [name, cases] of Object.entries(MATCHES)) {
  t.test(name, async (t) => {
    for (const [text, labels, expected] of cases) {
      const reading = parseLabelSelector(text)
      t.equal(reading.ok && matchesLabels(reading.selector, labels), expected, `${text} ${JSON.stringify(labels)}`)
      t.ok(reading.ok)
    }
  })
}
