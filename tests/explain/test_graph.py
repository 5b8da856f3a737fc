"""The graph of a tape: as data, as text, as Graphviz's source and as a drawing."""

import re
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import wengert as wg
from wengert.explain.graph import DRAWN, Graph, GraphNode
from wengert.explain.layout import _apart, layers

SVG = "{http://www.w3.org/2000/svg}"


def chain(steps):
    w = wg.Variable(0.5, name="w")
    with wg.GradientTape() as tape:
        y = wg.asarray(1.0)
        for _ in range(steps):
            y = wg.tanh(w * y)
    return tape, y, w


def diamond():
    x = wg.ones((2, 3))
    w = wg.Variable(np.ones((3, 2)), name="w")
    with wg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h = x @ w
        y = wg.sum(wg.exp(h) * wg.sin(h))
    return tape, y, x, w


def test_nodes_are_in_recording_order_and_know_their_parents():
    tape, y, *_ = diamond()
    graph = tape.graph(y)
    assert [(n.name, n.parents) for n in graph.nodes] == [
        ("w", ()),
        ("leaf", ()),
        ("matmul", (1, 0)),
        ("exp", (2,)),
        ("sin", (2,)),
        ("multiply", (3, 4)),
        ("sum", (5,)),
    ]
    assert [n.role for n in graph.nodes] == ["leaf"] * 2 + ["operation"] * 4 + ["target"]
    assert graph.nodes[2].shape == (2, 2) and graph.nodes[2].dtype == "float64"


def test_the_graph_can_be_asked_for_again_and_the_gradient_too():
    tape, y, x, _ = diamond()
    assert str(tape.graph(y)) == str(tape.graph(y))
    assert tape.gradient(y, x) is not None


def test_sources_leave_the_rest_out():
    tape, y, x, w = diamond()
    assert [n.name for n in tape.graph(y, w).nodes] == [
        "w", "matmul", "exp", "sin", "multiply", "sum",
    ]  # fmt: skip
    assert len(tape.graph(y, [x, w]).nodes) == 7
    assert tape.graph(y, wg.ones(2)).nodes == ()  # not of this tape
    assert tape.graph(wg.ones(2)).nodes == ()


def test_what_is_not_a_tensor_is_refused():
    tape, *_ = diamond()
    with pytest.raises(TypeError, match="graph: target: got str"):
        tape.graph("loss")


def test_several_targets_and_results():
    a = wg.asarray([[2.0, 1.0], [1.0, 3.0]])
    with wg.GradientTape() as tape:
        tape.watch(a)
        values, vectors = wg.linalg.eigh(a)
    graph = tape.graph([values, vectors])
    names = [n.name for n in graph.nodes]
    assert names == ["leaf", "linalg.eigh", "linalg.eigh[0]", "linalg.eigh[1]"]
    assert [n.role for n in graph.nodes][2:] == ["target", "target"]


def test_a_path_begins_at_a_watched_result():
    x = wg.ones(3)
    with wg.GradientTape(persistent=True) as outer:
        outer.watch(x)
        h = wg.exp(x)
        with wg.GradientTape() as inner:
            inner.watch(h)
            y = wg.sin(h)
    assert [(n.name, n.role) for n in inner.graph(y).nodes] == [("exp", "leaf"), ("sin", "target")]
    assert len(outer.graph(y).nodes) == 3


# -- text -----------------------------------------------------------------------------------------


def test_text_has_a_line_for_each_node():
    tape, y, *_ = diamond()
    lines = str(tape.graph(y)).split("\n")
    assert lines[0].split() == ["#", "operation", "shape", "dtype", "from"]
    assert lines[3].split() == ["2", "matmul", "(2,", "2)", "float64", "1,", "0"]
    assert len(lines) == 8


def test_the_repr_of_a_large_graph_leaves_out_its_middle():
    tape, y, _ = chain(100)
    graph = tape.graph(y)
    assert len(str(graph).split("\n")) == 202
    lines = repr(graph).split("\n")
    assert len(lines) == 62 and "... 141 nodes more" in lines[31]
    assert lines[30].split()[0] == "29" and lines[32].split()[0] == "171"


def test_lines_are_shown_where_they_are_known():
    nodes = [GraphNode(("exp",), (), "float64", (), "target", "train.py:7")]
    assert Graph(nodes).text().endswith("train.py:7")


def test_text_and_source_take_linear_time():
    seconds = []
    for steps in (5_000, 50_000):
        tape, y, _ = chain(steps)
        start = time.process_time()
        graph = tape.graph(y)
        assert len(graph.text().split("\n")) == 2 * steps + 2
        assert graph.dot().count("->") == 3 * steps - 1
        assert len(graph.collapsed().nodes) == 2
        seconds.append(time.process_time() - start)
    assert seconds[1] < 40 * seconds[0] + 1


# -- chains ---------------------------------------------------------------------------------------


def test_a_chain_is_one_node():
    tape, y, _ = chain(7)
    graph = tape.graph(y).collapsed()
    assert [(n.name, n.parents) for n in graph.nodes] == [("w", ()), ("(multiply, tanh) x 7", (0,))]
    assert graph.nodes[1].role == "target"


def test_chains_end_where_paths_meet():
    tape, y, *_ = diamond()
    graph = tape.graph(y).collapsed()
    assert [(n.name, n.parents) for n in graph.nodes] == [
        ("w", ()),
        ("leaf", ()),
        ("matmul", (1, 0)),
        ("exp", (2,)),
        ("sin", (2,)),
        ("multiply, sum", (3, 4)),
    ]


def test_a_target_is_the_end_of_its_chain():
    x = wg.asarray(1.0)
    with wg.GradientTape() as tape:
        tape.watch(x)
        y = wg.exp(x)
        z = wg.sin(y)
    assert [n.name for n in tape.graph([y, z]).collapsed().nodes] == ["leaf", "exp", "sin"]


@pytest.mark.parametrize("seed", range(20))
def test_collapsing_keeps_operations_and_order(seed):
    graph = random_graph(seed, 60)
    small = graph.collapsed()
    assert sorted(op for n in small.nodes for op in n.operations) == sorted(
        op for n in graph.nodes for op in n.operations
    )
    for number, node in enumerate(small.nodes):
        assert all(parent < number for parent in node.parents)
    paths = [reachable(g) for g in (graph, small)]
    assert paths[0] == paths[1]


def random_graph(seed, count):
    rng = np.random.default_rng(seed)
    nodes = []
    for i in range(count):
        many = int(rng.integers(0, 3)) if i else 0
        parents = tuple(rng.integers(max(0, i - 6), i, many).tolist()) if many else ()
        role = "operation" if parents else "leaf"
        nodes.append(GraphNode((f"op{i}",), (), "float64", parents, role, ""))
    nodes[-1] = nodes[-1]._replace(role="target")
    return Graph(nodes)


def reachable(graph):
    """Return, for each operation, the leaves that it is computed from."""
    found, leaves = {}, []
    for node in graph.nodes:
        mine = set().union(*(leaves[p] for p in node.parents))
        leaves.append(mine or {node.operations[0]})
        if node.parents:
            found[node.operations[-1]] = frozenset(leaves[-1])
    last = {node.operations[-1] for node in graph.collapsed().nodes}
    return {name: found[name] for name in found.keys() & last}


# -- Graphviz -------------------------------------------------------------------------------------


def test_dot_is_the_source_of_the_same_graph():
    tape, y, *_ = diamond()
    graph = tape.graph(y)
    text = graph.dot()
    assert text.startswith("digraph tape {") and text.endswith("}")
    edges = {tuple(map(int, e)) for e in re.findall(r"(\d+) -> (\d+)", text)}
    assert edges == {(p, i) for i, n in enumerate(graph.nodes) for p in n.parents}
    assert '2 [label="matmul\\n(2, 2) float64"' in text


def test_dot_quotes_names():
    nodes = [GraphNode(('a "name" \\ of',), (), "float64", (), "target", "")]
    assert r'label="a \"name\" \\ of\n() float64"' in Graph(nodes).dot()


# -- drawings -------------------------------------------------------------------------------------


def boxes_of(text):
    found = []
    for rect in ElementTree.fromstring(text).iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_boxes_do_not_overlap_and_parents_are_above(seed):
    graph = random_graph(seed, 80)
    text = graph.svg()
    boxes = boxes_of(text)
    assert len(boxes) == 80
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for i, node in enumerate(graph.nodes):
        assert all(boxes[p][3] < boxes[i][1] for p in node.parents)
    assert text.count("<path d=") - 1 == sum(len(set(n.parents)) for n in graph.nodes)
    width, height = (float(ElementTree.fromstring(text).get(k)) for k in ("width", "height"))
    assert all(x >= 0 and right <= width and bottom <= height for x, _, right, bottom in boxes)


def test_a_diamond_has_no_crossing():
    # two parents, two children, given in the order that crosses
    nodes = [
        GraphNode((f"op{i}",), (), "float64", parents, "operation", "")
        for i, parents in enumerate([(), (), (1,), (0,), (2, 3)])
    ]
    boxes = boxes_of(Graph(nodes).svg())
    assert (boxes[0][0] < boxes[1][0]) == (boxes[3][0] < boxes[2][0])


def test_names_are_escaped():
    nodes = [GraphNode(("<lambda>&",), (), "float64", (), "target", 'a "line".py:3')]
    tree = ElementTree.fromstring(Graph(nodes).svg())
    assert [t.text for t in tree.iter(f"{SVG}text")] == ["<lambda>&", "() float64"]
    assert [t.text for t in tree.iter(f"{SVG}title")] == ['a "line".py:3']


def test_an_empty_graph_is_drawn():
    assert ElementTree.fromstring(Graph([]).svg()) is not None
    assert Graph([]).dot().count("->") == 0 and str(Graph([])) == ""


def test_a_graph_that_is_too_large_says_what_to_do():
    tape, y, _ = chain(DRAWN)
    graph = tape.graph(y)
    with pytest.raises(ValueError, match=r"6,001 nodes.*collapsed\(\).*sources.*dot\(\)"):
        graph.svg()
    assert ElementTree.fromstring(graph.collapsed().svg()) is not None
    assert graph._repr_svg_() is None and "<pre>" in graph._repr_html_()
    small = tape.graph(y).collapsed()
    assert small._repr_svg_() == small.svg() and small._repr_html_() is None


def test_a_large_drawing_takes_seconds():
    tape, y, _ = chain(DRAWN // 2 - 1)  # in which the variable has an edge to every second row
    start = time.process_time()
    assert len(boxes_of(tape.graph(y).svg())) == DRAWN - 1
    wide = [GraphNode((f"op{i}",), (), "f", (0,) if i else (), "leaf", "") for i in range(DRAWN)]
    assert len(boxes_of(Graph(wide).svg())) == DRAWN
    assert time.process_time() - start < 20


def test_rows_are_longest_paths_and_leaves_are_near_their_users():
    assert layers([(), (0,), (1,), (), (2, 3)]) == [0, 1, 2, 2, 3]
    assert layers([()]) == [0]


def test_places_are_the_nearest_that_do_not_overlap():
    assert _apart([0, 100, 200], [10, 10, 10]) == [0, 100, 200]
    # two that want the same place share the distance
    assert _apart([50, 50], [20, 20]) == [28, 72]
