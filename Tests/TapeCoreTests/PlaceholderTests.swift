import Testing
@Test func ok() { #expect(Bool(true)) }
