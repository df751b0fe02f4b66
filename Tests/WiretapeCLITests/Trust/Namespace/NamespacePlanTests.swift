import Testing

@testable import WiretapeCLI

@Suite struct NamespacePlanTests {
    private let plan = NamespacePlan(
        bundle: "/a b/bundle=.pem", holder: "/h", files: ["/f 1", "--", "/f=2"].filter { $0 != "--" }, folders: ["/d"],
        roots: [.init(hash: "0123abcd", path: "/r=1")])

    @Test func itIsReadAsItWasWritten() {
        for command in [[], ["sh", "-c", "--", "root=x"]] {
            let words = self.plan.arguments(for: command)
            #expect(words.first == "__enter-namespace")
            #expect(Array(words.suffix(command.count + 1)) == ["--"] + command)
            #expect(NamespacePlan(arguments: words) == self.plan)
        }
    }

    @Test(arguments: [
        [], ["__enter-namespace"], ["__enter-namespace", "b", "h"], ["record", "b", "h", "--"], ["__enter-namespace", "b", "--"],
        ["__enter-namespace", "b", "h", "x", "--"], ["__enter-namespace", "b", "h", "x=y", "--"],
        ["__enter-namespace", "b", "h", "root=x", "--"],
    ])
    func anythingElseIsNoPlan(words: [String]) { #expect(NamespacePlan(arguments: words) == nil) }
}
