"""pretrained"""
