import Testing

@testable import Wiretape

@Suite struct FormNodeTests {
    @Test func oneNameHasOneNode() {
        let node = FormNode()
        node.becomeObject()
        node.member("a").set(.text("1"))
        node.member("b").set(.text("2"))
        node.becomeObject()
        node.member("a").set(.text("3"))
        #expect(
            node.value
                == .object([.init(name: "a", value: .leaf(.text("3"))), .init(name: "b", value: .leaf(.text("2")))]))
    }

    @Test func whatIsNotWrittenIsLeftOut() {
        let node = FormNode()
        #expect(node.value == nil && node.count == 0)
        node.becomeArray()
        _ = node.appendElement()
        node.appendElement().set(.text("x"))
        #expect(node.count == 2 && node.value == .array([.leaf(.text("x"))]))
    }

    @Test func anotherShapeTakesThePlaceOfTheOldOne() {
        let node = FormNode()
        node.set(.text("x"))
        node.becomeArray()
        #expect(node.value == .array([]))
        node.member("a").set(.text("lost"))
        #expect(node.value == .array([]))
        node.set(nil)
        #expect(node.value == nil)
    }
}
