import Testing

/// The check of the pages detects each kind of mistake.
@Suite struct SnippetCheckTests {
    private let source = """
        func test() {
            // snippet: greeting
            let word = "hello"

            if true {
                print(word)
            }
            // snippet end
        }
        """
    private let block = """
        let word = "hello"

        if true {
            print(word)
        }
        """

    private func problems(_ page: String, _ source: String? = nil) throws -> [String] {
        SnippetCheck.problems(pages: [("page.md", page)], regions: try SnippetRegion.all(in: source ?? self.source, file: "a.swift"))
    }

    @Test func aBlockThatIsARegionIsRight() throws {
        #expect(try self.problems("Text.\n\n```swift\n\(self.block)\n```\n").isEmpty)
    }

    @Test func aBlockOfAListIsComparedWithoutItsIndentation() throws {
        let indented = self.block.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }
        #expect(try self.problems("- Item\n\n  ```swift\n\(indented.joined(separator: "\n"))\n  ```\n").isEmpty)
    }

    @Test func aChangedBlockIsFoundWithItsPlaceAndItsRegion() throws {
        let page = "Text.\n\n```swift\n\(self.block.replacing("hello", with: "hullo"))\n```\n"
        let problems = try self.problems(page)
        #expect(problems.count == 2)
        #expect(problems.first?.hasPrefix("page.md:3: no snippet in Tests/DocumentationTests is this block; \"greeting\"") == true)
        #expect(problems.first?.contains("has \"let word = \"hello\"\" where the block has line 1") == true)
        #expect(problems.last == "a.swift: no page shows the snippet \"greeting\"")
    }

    @Test func aBlockOfNoRegionIsFound() throws {
        let problems = try self.problems("```swift\n\(self.block)\n```\n\n```swift\nlet other = 1\n```\n")
        #expect(problems == ["page.md:9: no snippet in Tests/DocumentationTests is this block; none is like it"])
    }

    @Test func aBlockThatNothingClosesIsComparedToo() throws {
        #expect(try self.problems("```swift\nlet other = 1").count == 2)
    }

    @Test func attributesOfABlockDoNotHideIt() throws {
        #expect(try self.problems("```swift, highlight=[1]\nlet other = 1\n```\n").count == 2)
    }

    @Test func aRegionThatNoPageShowsIsFound() throws {
        #expect(try self.problems("Text.\n") == ["a.swift: no page shows the snippet \"greeting\""])
    }

    @Test func aFenceWithoutALanguageIsFound() throws {
        let problems = try self.problems("```swift\n\(self.block)\n```\n\n```\nlet other = 1\n```\n")
        #expect(problems == ["page.md:9: the block names no language: write ```swift, ```sh, ```json or ```text"])
    }

    @Test func otherLanguagesAreLeftAlone() throws {
        #expect(try self.problems("```swift\n\(self.block)\n```\n\n```sh\nswift test\n```\n").isEmpty)
    }

    @Test func regionsOfOneNameOrOneTextAreFound() throws {
        let twice = "// snippet: a\nlet b = 1\n// snippet end\n// snippet: a\nlet b = 1\n// snippet end\n"
        let problems = try self.problems("```swift\nlet b = 1\n```\n", twice)
        #expect(problems.count == 2)
        #expect(problems.allSatisfy { $0.contains("\"a\"") })
    }

    @Test(arguments: [
        "// snippet: a\n// snippet: b\n// snippet end\n", "// snippet: a\nlet b = 1\n", "let b = 1\n// snippet end\n",
    ])
    func aRegionWithoutBothEndsIsAnError(source: String) {
        #expect(throws: SnippetProblem.self) { try SnippetRegion.all(in: source, file: "a.swift") }
    }
}
