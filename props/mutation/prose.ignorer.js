// Tells Stryker what is prose or typing and not behaviour: descriptions of states, the sentence of a refusal, the name an
// unfilled slot reports, what people read of an event's field or of a step of an exercise, and the `types` of setup(), which
// only the compiler reads.
const TOLD_FIRST = ['text', 'integer', 'address'];
const prose = {
  shouldIgnore(path) {
    const { node, parent } = path;
    if (isOnlyDescribed(node)) return 'a description is prose';
    if (parent?.type === 'ObjectProperty' && parent.value === node) {
      const key = nameOf(parent.key);
      if (key === 'description' || key === 'about') return 'a description is prose';
      if (key === 'types' && calleeOf(path.parentPath?.parentPath) === 'setup')
        return 'types are read by the compiler alone';
    }
    if (parent?.type !== 'CallExpression') return undefined;
    const callee = nameOf(parent.callee);
    const [first, second] = parent.arguments;
    if (TOLD_FIRST.includes(callee) && first === node && second?.type === 'ArrowFunctionExpression')
      return 'what a field is';
    if (callee === 'step' && second?.type === 'ArrayExpression') return 'a step of an exercise';
    const method = nameOf(parent.callee.property);
    if ((callee === 'refuse' || method === 'refuse') && parent.arguments[1] === node)
      return 'the sentence of a refusal';
    if (callee === 'stepState' && parent.arguments[1] === node) return 'a description is prose';
    if (callee === 'unprovided' || callee === 'unprovidedActor') return 'the name of a slot';
    return undefined;
  },
};

export const strykerPlugins = [{ kind: 'Ignore', name: 'prose', value: prose }];

// A state that does nothing but be there: `{ description: '...' }` and `{}` are the same state.
function isOnlyDescribed(node) {
  return (
    node.type === 'ObjectExpression' &&
    node.properties.length === 1 &&
    nameOf(node.properties[0].key) === 'description'
  );
}

function nameOf(node) {
  return node?.type === 'Identifier' ? node.name : undefined;
}

// The name of the function that an object literal is an argument of.
function calleeOf(path) {
  const call = path?.parent;
  return call?.type === 'CallExpression' ? nameOf(call.callee) : undefined;
}
