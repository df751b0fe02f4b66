import Testing
@Test func ok() { #expect(Bool(true)) }
import NIOPosix
import NIOEmbedded
