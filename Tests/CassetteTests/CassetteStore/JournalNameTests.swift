@testable import CassetteStore
import Testing

@Suite struct JournalNameTests {
    @Test(arguments: [(1, 1, "open-1"), (70, 1, "open-70"), (7, 2, "open-7-2"), (999_999_999_999, 1000, "open-999999999999-1000")])
    func bothFilesAreReadBackAsOneName(id: Int, copy: Int, stem: String) {
        let name = JournalName(id: id, copy: copy)
        #expect(name.head == stem + ".json" && name.messages == stem + ".jsonl")
        #expect(JournalName(name.head) == name && JournalName(name.messages) == name)
    }

    @Test(arguments: [
        "open-.json", "open-01.json", "open-0.json", "open-1-1.json", "open-1-02.json", "open-1-2-3.json", "open--1.json", "open-1.jsonx",
        "open-1", "Open-1.json", "open-١.json", "open-1.json.json", "open-9999999999999.json", ".jsonl", "x-1.json",
    ])
    func otherSpellingsAreNoJournals(name: String) {
        #expect(JournalName(name) == nil)
    }
}
