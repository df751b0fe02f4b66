import Testing

@testable import WiretapeCLI

@Suite struct IndentedTextTests {
    @Test func indentsLinesThatHoldSomething() {
        var text = IndentedText(isLimited: false)
        #expect(text.push("a\n\nb") + text.push("c\n") + text.push("") + text.push("d") == "  a\n\n  bc\n  d")
        #expect(!text.isAtLineStart)
    }

    @Test func aTerminalGetsSoManyLines() {
        var text = IndentedText(isLimited: true)
        let shown = (1...300).map { text.push("\($0)\n") }.joined()
        #expect(shown.hasSuffix("\n  200\n"))
        #expect(text.isCut)
    }

    @Test func exactlyTheLimitIsNotCut() {
        var text = IndentedText(isLimited: true)
        _ = text.push(String(repeating: "x\n", count: IndentedText.lineLimit))
        #expect(!text.isCut)
    }

    @Test func oneLongLineIsCutBetweenCharacters() {
        var text = IndentedText(isLimited: true)
        let shown = text.push(String(repeating: "이", count: 100_000))
        #expect(text.isCut)
        #expect(shown.utf8.count <= IndentedText.byteLimit + 5)
        #expect(shown.hasSuffix("이"))
    }

    @Test func aFileGetsEverything() {
        var text = IndentedText(isLimited: false)
        #expect(text.push(String(repeating: "x\n", count: 5000)).utf8.count == 20_000)
        #expect(!text.isCut)
    }
}
