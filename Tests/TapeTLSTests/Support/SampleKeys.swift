/// Keys in the PEM forms of other programs. They protect nothing.
enum SampleKeys {
    static let encryptedPKCS8 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHrMFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAi7vuBKb4xKbAIBATAM
        BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBAgQQs71K5/irM4walgjNiufEmASBkPX1
        NYvnkPkFeX/0h58w0qIdMoVeP63jqKVkMTP7HEFZ+DE+uNViwTSrkw1T9F1tGKOZ
        vU8DAJvjuxEXAX+2m/BuF3KDHt5GY2BSaVTDENSlp9dg0vav8GWBE0+ZaR3Lee6i
        Nz0mEZIP5OQtAgrZwPoXZ4zKLJ8SQr3M5lLwtZ5iKgxzYExvC+gSUzjGio3QdQ==
        -----END ENCRYPTED PRIVATE KEY-----
        """

    static let encryptedEC = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,4C362AA7073FC3B7985E57ABFFB23A81

        7Cmfp9w/bS5DclShlOYClmath1lRJsyRCTNW63mFqjVO7wvqX9wukpf/Ti8fXSE2
        q0G1B3wpM5hdBg/hPvFaSugV5qXYruBYmfxNk4iNf08XeA4g7TrQflFlHcBTRJtk
        4s9dfu8UCiftfOmp6Vc7DcvFtp8Eh7y4tnqiVWN0yw0=
        -----END EC PRIVATE KEY-----
        """

    static let plainEC = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIM++uGwWIhEhlvT+Q03zj3KBdXObMkZ8Vf5ZNzkSca3LoAoGCCqGSM49
        AwEHoUQDQgAEcssGt0l1KNKGSduHoWMgf8yyLE3l6DRTqEQtx6X/b+k/pozBq0Lp
        AZT2iDH7cw7C7MfZKNxC6h0gSd67GDEx2w==
        -----END EC PRIVATE KEY-----
        """

}
