import Testing

/// The code in the documentation is the code that is compiled and run here.
@Suite struct PagesTests {
    @Test func everySwiftBlockIsASnippetAndEverySnippetIsShown() throws {
        let pages = try Repository.pages()
        // The page's blocks without a language show terminal output.
        let problems = SnippetCheck.problems(pages: pages, regions: try Repository.regions()) { $0.path != "docs/swift.md" }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test(arguments: ["Wiretape", "WiretapeTesting", "TapeProxy"]) func everyCatalogueHasPages(module: String) throws {
        let paths = try Repository.pages().map(\.path).filter { $0.hasPrefix("Sources/\(module)/\(module).docc/") }
        #expect(paths.contains("Sources/\(module)/\(module).docc/\(module).md"))
        #expect(paths.count > 1)
    }

    @Test func everyPageOfACatalogueIsOnItsLandingPage() throws {
        let pages = try Repository.pages().filter { $0.path != "docs/swift.md" }
        for page in pages {
            let parts = page.path.split(separator: "/")
            guard let name = parts.last?.dropLast(3), name != parts[1] else { continue }
            let landing = pages.first { $0.path == "Sources/\(parts[1])/\(parts[1]).docc/\(parts[1]).md" }
            #expect(landing?.text.contains("- <doc:\(name)>") == true, "\(page.path) is not on the landing page")
        }
    }
}
